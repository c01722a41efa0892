/* What all worlds of a run had in them: a rule about what never happens cannot fail. */
#ifndef SOLVEGATE_TESTS_SIM_CLUSTER_SUMS_H
#define SOLVEGATE_TESTS_SIM_CLUSTER_SUMS_H

#include "plan.h"

struct cluster;

#define BIT(fault) (UINT64_C(1) << FAULT_##fault)
#define ALWAYS UINT64_MAX
#define SOMETIMES UINT64_C(0)

/* What happens, counted: field, text, the faults of which one at least must be there for it to happen. */
#define SUM_LIST(X)                                                                        \
    X(solved, "solves", ALWAYS)                                                            \
    X(answered, "answers", ALWAYS)                                                         \
    X(crashes, "crashes", BIT(CRASH) | BIT(DRAIN) | BIT(ROLL))                             \
    X(follows, "follows", ALWAYS)                                                          \
    X(taken, "taken from others", ALWAYS)                                                  \
    X(given, "given by the store", ALWAYS)                                                 \
    X(found, "finds", BIT(ELSEWHERE))                                                      \
    X(paid, "paid", ALWAYS)                                                                \
    X(draws, "draws of units", ALWAYS)                                                     \
    X(adoptions, "adoptions", BIT(CRASH) | BIT(DRAIN) | BIT(ROLL) | BIT(PAUSE) | BIT(CUT)) \
    X(fences, "fences", BIT(PAUSE) | BIT(CUT))                                             \
    X(facts, "facts", BIT(CALLBACK) | BIT(REPORT) | BIT(GIVE_UP))                          \
    X(drains, "drains", BIT(DRAIN) | BIT(ROLL))                                            \
    X(rolls, "restarts of all in turn", BIT(ROLL))                                         \
    X(reports, "reports", BIT(REPORT))                                                     \
    X(withdrawals, "withdrawals", BIT(GIVE_UP))                                            \
    X(orders, "orders about letters", BIT(REJECTED) | BIT(UNSOLVABLE) | BIT(REQUEST_LOST)) \
    X(losses, "losses of the store", BIT(FORGET))                                          \
    X(sights, "told again", ALWAYS)                                                        \
    X(unseen, "forgotten", BIT(CRASH))                                                     \
    X(again_stopped, "paid again after a standstill", SOMETIMES)                           \
    X(again_ambiguous, "paid again after an ambiguous submit", SOMETIMES)                  \
    X(again_late, "paid again after a timeout", SOMETIMES)                                 \
    X(lost_ids, "ids lost", SOMETIMES)

/* What is rarest happens in every fiftieth world. */
#define WORLDS_ENOUGH 200

/* Of all worlds that were run. */
struct sums {
    uint64_t worlds;
#define SUM_AS_FIELD(field, text, faults) uint64_t field;
    SUM_LIST(SUM_AS_FIELD)
#undef SUM_AS_FIELD
};

void sums_add(struct sums *sums, const struct cluster *c);
/* One line. */
void sums_print(const struct sums *sums);
/* What should have happened in WORLDS_ENOUGH with these faults (a bit each), and did not; or NULL. */
const char *sums_missing(const struct sums *sums, uint64_t faults);

#endif
