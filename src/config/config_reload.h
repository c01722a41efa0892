/* Applies a new configuration to a running program; options that need a restart stay as they are
 * and are named. */
#ifndef SOLVEGATE_CONFIG_CONFIG_RELOAD_H
#define SOLVEGATE_CONFIG_CONFIG_RELOAD_H

#include "config/config.h"

/* Changes running to fresh as far as a running program allows; options that need a restart keep
 * their values and are named in kept, separated by commas. Clients keep their indexes: removed ones
 * lose their keys, new ones are added at the end. fresh gets the memory that running no longer
 * needs, for config_close. At most client_room clients fit, removed ones included; if the new ones do
 * not all fit, none is added, and the others change all the same. */
void config_adopt(struct config *running, struct config *fresh, size_t client_room,
                  struct buf *kept);

#endif
