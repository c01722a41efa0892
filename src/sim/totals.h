/* Counters since the start or the last reset: one list that yields the struct and the JSON. */
#ifndef SOLVEGATE_SIM_TOTALS_H
#define SOLVEGATE_SIM_TOTALS_H

#include <stdint.h>

#define TOTALS_LIST(X)                                     \
    X(calls)    /* requests at any door but /sim */        \
    X(submits)  /* calls of in.php and solve.php */        \
    X(accepted) /* tasks created, which are paid for */    \
    X(rejected) /* submits refused with a code or fault */ \
    X(solved)                                              \
    X(failed)                                              \
    X(polls) /* ids asked for */                           \
    X(polls_ready)                                         \
    X(polls_pending)                                       \
    X(polls_failed) /* answered with an error code */      \
    X(reports_good)                                        \
    X(reports_bad)                                         \
    X(balance_calls)                                       \
    X(threads_calls)                                       \
    X(callbacks_made) /* answered or given up */           \
    X(callbacks_ok)   /* answered with 2xx */              \
    X(callbacks_failed)                                    \
    X(callbacks_dropped) /* by fault */                    \
    X(faults)            /* calls, tasks and callbacks struck */

struct totals {
#define TOTALS_AS_FIELD(name) uint64_t name;
    TOTALS_LIST(TOTALS_AS_FIELD)
#undef TOTALS_AS_FIELD
};

/* Refusals by code; codes past the limit are counted together. */
#define TOTALS_CODES_MAX 48

struct code_total {
    const char *code; /* lives as long as the process */
    uint64_t count;
};

#endif
