/* Orders about dead letters that are under way. */
#ifndef SOLVEGATE_ENGINE_LETTER_JOB_H
#define SOLVEGATE_ENGINE_LETTER_JOB_H

#include "base/list.h"

#include <solvegate/errands.h>
#include <solvegate/letter_order.h>

/* Each step looks at some letters. */
#define LETTER_JOBS 64
struct letter_job {
    struct letter_order order;
    struct errand errand; /* that brought it; from 0: a caller did */
    struct list
        *next;      /* the letter to look at next; the list's head: none is left; NULL: not begun */
    uint64_t last;  /* number of the newest letter when the order came */
    uint32_t count; /* letters that matched, or that were changed */
    uint32_t found_count;
    uint64_t *found; /* owned: of a list, the numbers on its page */
    bool has_more;
    bool is_unheard; /* its caller hung up */
};

/* A caller waits until several nodes have carried out its order. Small, since every caller who waits has
 * room for it. */
struct letter_wait {
    uint32_t count;
    uint16_t awaited; /* replies; 0: it is no such order */
    uint8_t verb;     /* enum letter_verb */
    uint8_t refusal;  /* enum refusal: of any of them */
};

#endif
