/* A swarm of random events: the engine checks itself and is held against a dumb model after every step. */
#include "audit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SEEDS 300

static uint64_t first_seed;
static unsigned long long total_steps = SEEDS * AUDIT_STEPS;
static struct audit audit;

/* An assertion of the engine aborts: the seed must be told by then. */
static void on_abort(int number)
{
    (void)number;
    char line[128];
    const int len = snprintf(line, sizeof line, "replay with --seed %llu --steps %u (step %u)\n",
                             (unsigned long long)audit.seed, AUDIT_STEPS, audit.step);
    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
        return;
}

static int announce(void **state)
{
    (void)state;
    (void)printf("# seed %llu, %llu steps (replay with --seed N --steps %u)\n",
                 (unsigned long long)first_seed, total_steps, AUDIT_STEPS);
    return fflush(stdout);
}

static void whatever_happens_everybody_is_answered_once_and_nobody_wrongly(void **state)
{
    (void)state;
    unsigned long long steps = 0;
    for (uint64_t seed = first_seed; steps < total_steps; seed++) {
        audit_run(&audit, seed, AUDIT_STEPS);
        steps += AUDIT_STEPS;
    }
}

/* The same seed must lead to the same end, or no failure could be replayed. */
static void the_same_seed_makes_the_same_history(void **state)
{
    (void)state;
    audit_run(&audit, first_seed, AUDIT_STEPS);
    const size_t visits = audit.visit_count, requests = audit.request_count;
    const size_t attempts = audit.attempt_count, tokens = audit.token_count;
    const uint64_t next = rand_u64(&audit.rand);
    audit_run(&audit, first_seed, AUDIT_STEPS);
    assert_int_equal(audit.visit_count, visits);
    assert_int_equal(audit.request_count, requests);
    assert_int_equal(audit.attempt_count, attempts);
    assert_int_equal(audit.token_count, tokens);
    assert_true(rand_u64(&audit.rand) == next);
}

static void read_arguments(int argc, char **argv)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    first_seed = ((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000) % 1000000000;
    if (argc > 1 && strcmp(argv[argc - 1], "--trace") == 0) {
        audit_trace();
        argc--;
    }
    for (int i = 1; i < argc; i += 2) {
        char *end = NULL;
        const unsigned long long number = i + 1 < argc ? strtoull(argv[i + 1], &end, 10) : 0;
        const bool is_seed = strcmp(argv[i], "--seed") == 0;
        if (end == NULL || *end != '\0' || (!is_seed && strcmp(argv[i], "--steps") != 0)) {
            (void)fprintf(stderr, "usage: %s [--seed N] [--steps N] [--trace]\n", argv[0]);
            exit(64);
        }
        if (is_seed)
            first_seed = number;
        else
            total_steps = number;
    }
}

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    (void)signal(SIGABRT, on_abort);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_everybody_is_answered_once_and_nobody_wrongly),
        cmocka_unit_test(the_same_seed_makes_the_same_history),
    };
    return cmocka_run_group_tests(tests, announce, NULL);
}
