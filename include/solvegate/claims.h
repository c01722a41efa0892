/* Claims: when gateways share a store, the flight of a key belongs to at most one of them. */
#ifndef SOLVEGATE_CLAIMS_H
#define SOLVEGATE_CLAIMS_H

#include <solvegate/record.h>
#include <solvegate/types.h>

/* A flight asks the store for its key. The store looks at the idempotency key, at fresh solutions
 * and at other nodes' claims, and grants the claim if there is none, all in one transaction; a claim
 * that is sent again gets the same result. */
struct claim {
    uint64_t flight;    /* number of the flight that asks */
    uint64_t ticket;    /* returned with the result */
    uint64_t following; /* number of the claim that it waits for, or 0 */
    client_id client;
    enum reuse reuse;
    bool has_name; /* else nothing is claimed: a single-use solution is taken if there is one */
    bool
        is_held; /* the store had granted it and lost it: nothing but WON and FOLLOW is an answer */
    bool has_idempotency;
    bool may_take;       /* a single-use solution that is offered, of any node */
    uint64_t solution;   /* number of the row of ours that it proposes to take, or 0 */
    uint64_t proposal;   /* returned with the result */
    uint16_t pool;       /* as in struct ask */
    uint32_t min_ttl_ms; /* what it accepts, as in struct ask */
    uint32_t max_age_ms;
    struct key key;
    struct key name; /* what is claimed: the key, or the idempotency key if others may solve the
                             * same key as well */
    struct key idempotency; /* digest of client and idempotency key */
    struct key offered;     /* what it may take has this key: its own, or its pool's */
};

enum claim_result {
    CLAIM_WON,         /* the flight is ours */
    CLAIM_FOLLOW,      /* another flight has it */
    CLAIM_SOLVED,      /* there is a solution */
    CLAIM_TAKEN,       /* a single-use solution, which is this flight's from now on */
    CLAIM_MISMATCH,    /* the idempotency key was used for something else */
    CLAIM_REFUSED,     /* a remembered error: the flight that was followed failed, or the parameters
                        * are known to be wrong */
    CLAIM_UNAVAILABLE, /* the store did not answer: ask again later */
};

/* How an ACTION_CLAIM ended. */
struct claimed {
    uint64_t flight, ticket, proposal; /* as in the claim, as are the next four */
    bool is_held;
    bool has_name;
    bool has_idempotency;
    struct key name;
    enum claim_result result;
    uint64_t followed; /* FOLLOW: number of the claim that is waited for */
    bool is_own;       /* FOLLOW: it belongs to this very node */
    bool is_solving;   /* FOLLOW: its task is at the vendor */
    bool is_replayed;  /* found by the idempotency key */
    bool is_renewed;   /* the idempotency key was known, but its solution had expired */
    bool is_lost;      /* what was proposed is not ours to give any more */
    uint16_t owner;    /* TAKEN: number of the other node that had it, or 0 */
    const struct solution_row *solution; /* borrowed; SOLVED and TAKEN */
    uint16_t attempts;                   /* REFUSED: attempts that were made */
    enum error_class class;              /* REFUSED */
    char code[ERROR_CODE_MAX];           /* REFUSED */
};

/* A claim ends. The store remembers the end for a minute for those who follow it, and wakes them. */
struct release {
    uint64_t flight;        /* number of the claim */
    struct key name;        /* what was claimed */
    uint64_t solution;      /* number of the solution's row, or 0 */
    bool is_kept;           /* a stray keeps the claim: only the solution is published */
    uint16_t attempts;      /* attempts that were made */
    enum error_class class; /* CLASS_NONE: not failed, but solved or given up */
    char code[ERROR_CODE_MAX];
    uint32_t keep_ms; /* how long everybody who asks is refused with this code; 0: only followers */
};

#endif
