/* Reads a pool of the configuration file. */
#ifndef SOLVEGATE_CONFIG_CONFIG_POOLS_H
#define SOLVEGATE_CONFIG_CONFIG_POOLS_H

#include "config/config_loader.h"

/* Reads one pool: a few options of our own, and otherwise the target's parameters. */
void pool_read(struct loader *loader, struct config_pool *pool, struct yyjson_val *object);

#endif
