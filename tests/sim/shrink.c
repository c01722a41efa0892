#include "hunt.h"

#include <stdio.h>

/* The fewest needs with which it still fails, by halving and then by tenths. */
static void shrink_number(uint64_t seed, struct narrowing *narrowing, uint32_t *number)
{
    for (uint32_t divisor = 2; divisor <= 16; divisor *= 2) {
        for (;;) {
            const uint32_t before = *number;
            const uint32_t cut = before / divisor;
            if (cut == 0 || before - cut == 0)
                break;
            *number = before - cut;
            if (!hunt_fails(seed, narrowing)) {
                *number = before;
                break;
            }
        }
    }
}

static void shrink_faults(uint64_t seed, struct narrowing *narrowing, const struct plan *plan)
{
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        if (plan->strength[fault] == 0 || narrowing->without[fault])
            continue;
        narrowing->without[fault] = true;
        if (!hunt_fails(seed, narrowing))
            narrowing->without[fault] = false;
    }
}

static void print_replay(uint64_t seed, const struct narrowing *narrowing)
{
    (void)printf("# replay: sim-engine --trace --seed %llu --needs %u --keys %u",
                 (unsigned long long)seed, narrowing->needs, narrowing->keys);
    bool is_first = true;
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        if (!narrowing->without[fault])
            continue;
        (void)printf("%s%s", is_first ? " --without " : ",", fault_word((enum fault)fault));
        is_first = false;
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

void shrink(uint64_t seed, struct narrowing *narrowing)
{
    struct plan plan;
    plan_draw(&plan, seed);
    if (narrowing->needs == 0)
        narrowing->needs = plan.needs;
    if (narrowing->keys == 0)
        narrowing->keys = plan.keys;
    if (!hunt_fails(seed, narrowing)) {
        (void)printf("# seed %llu does not fail when it runs alone\n", (unsigned long long)seed);
        return;
    }
    shrink_number(seed, narrowing, &narrowing->needs);
    shrink_faults(seed, narrowing, &plan);
    shrink_number(seed, narrowing, &narrowing->needs);
    shrink_number(seed, narrowing, &narrowing->keys);
    shrink_faults(seed, narrowing, &plan);
    print_replay(seed, narrowing);
}
