#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Odd, so that the median is a round that was really run. */
#define ROUNDS 7

static unsigned targets;
static unsigned targets_met;
static volatile uint64_t sink;

uint64_t bench_now_ns(void)
{
    struct timespec now = {.tv_sec = 0};
    if (syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        abort();
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double bench_per_op(uint64_t started_ns, size_t operations)
{
    return (double)(bench_now_ns() - started_ns) / (double)operations;
}

/* For ./run, which wants every round. */
static bool wants_json(void)
{
    return getenv("SOLVEGATE_BENCH_JSON") != NULL;
}

void bench_print_header(void)
{
    if (wants_json())
        return;
#if !defined(__OPTIMIZE__) || defined(BENCH_IS_SANITIZED)
    (void)printf("not a release build: these numbers mean nothing\n");
#endif
    (void)printf("%-28s %9s %10s %10s  %-22s %7s  %s\n", "operation", "size", "ours ns", "rival ns",
                 "rival", "ratio", "target");
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double rounds[ROUNDS])
{
    qsort(rounds, ROUNDS, sizeof(*rounds), compare_doubles);
    return rounds[ROUNDS / 2];
}

static void print_target(const struct bench_pair *pair, double ratio)
{
    if (pair->target <= 0) {
        (void)printf("  -\n");
        return;
    }
    const bool is_met = ratio >= pair->target;
    targets++;
    targets_met += is_met ? 1 : 0;
    (void)printf("  >= %.1fx %s\n", pair->target, is_met ? "met" : "MISSED");
}

static void print_rounds(const char *name, const double rounds[ROUNDS])
{
    (void)printf(", \"%s\": [", name);
    for (int i = 0; i < ROUNDS; i++)
        (void)printf("%s%.3f", i == 0 ? "" : ", ", rounds[i]);
    (void)printf("]");
}

static void print_json(const struct bench_pair *pair, const double ours[ROUNDS],
                       const double theirs[ROUNDS])
{
    (void)printf("{\"operation\": \"%s\", \"size\": %zu, \"rival\": \"%s\", \"target\": %g",
                 pair->operation, pair->size, pair->rival, pair->target);
    print_rounds("ours", ours);
    print_rounds("theirs", theirs);
    (void)printf("}\n");
    (void)fflush(stdout);
}

void bench_compare(const struct bench_pair *pair)
{
    double ours[ROUNDS];
    double theirs[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        /* Who goes first alternates, so that neither always finds the caches warmed or spoilt. */
        if (round % 2 == 0)
            ours[round] = pair->ours(pair->context);
        theirs[round] = pair->theirs(pair->context);
        if (round % 2 == 1)
            ours[round] = pair->ours(pair->context);
    }
    if (wants_json()) {
        print_json(pair, ours, theirs);
        return;
    }
    const double our_ns = median(ours);
    const double their_ns = median(theirs);
    const double ratio = their_ns / our_ns;
    (void)printf("%-28s %9zu %10.1f %10.1f  %-22s %6.1fx", pair->operation, pair->size, our_ns,
                 their_ns, pair->rival, ratio);
    print_target(pair, ratio);
    (void)fflush(stdout);
}

int bench_finish(void)
{
    if (targets > 0)
        (void)printf("targets met: %u of %u\n", targets_met, targets);
    return getenv("SOLVEGATE_BENCH_STRICT") != NULL && targets_met < targets ? 1 : 0;
}

void *bench_alloc(size_t count, size_t item_bytes)
{
    void *memory = calloc(count, item_bytes);
    if (memory == NULL)
        abort();
    return memory;
}

void bench_use(uint64_t value)
{
    sink = value;
}
