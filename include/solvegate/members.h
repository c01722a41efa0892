/* Members: the gateways that share a store. Each tells the others by a beat that it lives, and trusts
 * its own lease only while its beats are confirmed. */
#ifndef SOLVEGATE_MEMBERS_H
#define SOLVEGATE_MEMBERS_H

#include <solvegate/types.h>

/* A beat of ours was confirmed by the store. */
struct beat {
    /* When it was sent, on the clock of the events. The lease counts from then, so that clock must
     * also run while the machine sleeps. */
    uint64_t sent_ms;
};

#endif
