/* The list of pools in the file: a few options of our own, and otherwise the target's parameters. */
#ifndef SOLVEGATE_CONFIG_CONFIG_POOLS_H
#define SOLVEGATE_CONFIG_CONFIG_POOLS_H

#include "config/config_loader.h"

void pool_list_read(struct loader *loader, struct yyjson_val *list);
void pool_list_check(struct loader *loader);
void pool_list_close(struct config *config);

#endif
