/* A tiny benchmark harness: two rivals, interleaved rounds, medians, one aligned table. */
#ifndef SOLVEGATE_BENCH_BENCH_H
#define SOLVEGATE_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Runs one round and returns nanoseconds per operation. */
typedef double (*bench_round)(void *context);

struct bench_pair {
    const char *operation;
    size_t size; /* how many things are there while it runs */
    const char *rival;
    bench_round ours;
    bench_round theirs;
    void *context;
    double target; /* we must be this many times cheaper; 0 when nothing was promised */
};

/* CPU time in ns, so that others on the machine do not count; from the kernel itself, since bench_wheel
 * replaces clock_gettime(). */
uint64_t bench_now_ns(void);

/* Nanoseconds per operation since started_ns. */
double bench_per_op(uint64_t started_ns, size_t operations);

void bench_print_header(void);

/* Runs both sides in turn, several rounds, and prints one line. */
void bench_compare(const struct bench_pair *pair);

/* Prints how many targets were met; returns the exit code, which is 0 even if some were missed
 * unless SOLVEGATE_BENCH_STRICT is set, since a busy machine proves nothing. */
int bench_finish(void);

/* Memory or death. */
void *bench_alloc(size_t count, size_t item_bytes);

/* Keeps the compiler from dropping work whose result nobody reads. */
void bench_use(uint64_t value);

#endif
