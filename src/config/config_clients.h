/* Finding clients by their keys, beyond what config.h offers. */
#ifndef SOLVEGATE_CONFIG_CONFIG_CLIENTS_H
#define SOLVEGATE_CONFIG_CONFIG_CLIENTS_H

#include "config/config.h"

/* Fills client_order; call when all clients are read. */
void clients_index(struct config *config);

#endif
