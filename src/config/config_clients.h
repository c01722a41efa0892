/* Finds clients by their keys, beyond the functions in config.h. */
#ifndef SOLVEGATE_CONFIG_CONFIG_CLIENTS_H
#define SOLVEGATE_CONFIG_CONFIG_CLIENTS_H

#include "config/config.h"

/* Fills client_order; call it after all clients are read. */
void clients_index(struct config *config);

#endif
