/* What other nodes are asked for: what became of ids (look_errand.h), and what they know of a key (show_errand.h). */
#ifndef SOLVEGATE_ENGINE_SHOW_WAIT_H
#define SOLVEGATE_ENGINE_SHOW_WAIT_H

#include "base/blob.h"

#include <solvegate/errands.h>

/* Looks that were sent as errands within one second, without those that found something. */
struct look_errands {
    uint64_t since_ms;
    uint32_t count;
};

/* A caller waits for what others know. */
#define SHOW_ERRANDS 16
struct show_errand {
    uint64_t ticket; /* 0: it was never used */
    uint64_t since_ms;
    struct show show;
    uint32_t awaited;  /* replies; 0: it has ended */
    bool is_partial;   /* a node is dead, and nobody has its rows yet */
    enum shown shown;  /* the most that a reply knew, */
    struct blob *text; /* owned: and what that was, or NULL */
};

#endif
