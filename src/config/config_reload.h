/* A new configuration for a running program: what can change does, the rest stays and is named. */
#ifndef SOLVEGATE_CONFIG_CONFIG_RELOAD_H
#define SOLVEGATE_CONFIG_CONFIG_RELOAD_H

#include "config/config.h"

/* Makes running what fresh says, as far as that can change while it runs; the options that take a
 * restart keep their values and are named in kept, with commas between. Clients keep their places:
 * those that are gone lose their keys, new ones come behind. fresh gets what running no longer
 * needs, for config_close.
 * No more than client_room clients fit, counting those that are gone. */
void config_adopt(struct config *running, struct config *fresh, size_t client_room,
                  struct buf *kept);

#endif
