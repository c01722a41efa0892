/* One kept connection to a callback's address. */
#ifndef SOLVEGATE_SIM_PEER_H
#define SOLVEGATE_SIM_PEER_H

#include "sim/pingback_private.h"

void peer_settings_init(llhttp_settings_t *settings);

/* Puts the job on an idle or new connection, or at the end of the origin's queue. */
void peer_dispatch(struct pingback *pingback, struct job *job);

/* Loses the connection's job. */
void peer_close(struct peer *peer);
void peer_on_timer(void *pingback, struct wheel_timer *timer);

#endif
