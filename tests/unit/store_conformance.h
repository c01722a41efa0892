/* The conformance suite of store drivers: cases that every driver of the port passes, see store_kit.h. */
#ifndef SOLVEGATE_TESTS_STORE_CONFORMANCE_H
#define SOLVEGATE_TESTS_STORE_CONFORMANCE_H

#include <stddef.h>

/* The state is a struct store_world whose kit has begun. */
struct store_case {
    const char *name; /* NULL ends a list */
    void (*run)(void **state);
};

#define STORE_CASE(function) {#function, function}

extern const struct store_case store_row_cases[];
extern const struct store_case store_batch_cases[];
extern const struct store_case store_clock_cases[];
extern const struct store_case store_driver_cases[];
extern const struct store_case store_whole_cases[];
/* Of drivers whose stores can be shared. */
extern const struct store_case store_claim_cases[];
extern const struct store_case store_offer_cases[];
extern const struct store_case store_node_cases[];
extern const struct store_case store_beat_cases[];
extern const struct store_case store_find_cases[];
extern const struct store_case store_budget_cases[];
/* Of those that can adopt. */
extern const struct store_case store_adoption_cases[];
extern const struct store_case store_fence_cases[];
extern const struct store_case store_errand_cases[];
extern const struct store_case store_letter_cases[];
extern const struct store_case store_setback_cases[];
/* Of drivers whose stores somebody else can empty. */
extern const struct store_case store_lost_cases[];

#endif
