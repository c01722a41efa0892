/* Seeds of random tests: printed at the start, replayed with --seed N. */
#ifndef SOLVEGATE_TESTS_SEED_H
#define SOLVEGATE_TESTS_SEED_H

#include <stdint.h>

/* Takes --seed N from the arguments, else the clock; exits with 64 on anything else. */
void seed_init(int argc, char **argv);

/* A group setup for cmocka: prints the seed behind the plan, where TAP wants comments. */
int seed_announce(void **state);

uint64_t seed_value(void);

#endif
