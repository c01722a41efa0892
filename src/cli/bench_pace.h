/* The most calls a second to a machine that is not the caller's own: asks and looks alike. */
#ifndef SOLVEGATE_CLI_BENCH_PACE_H
#define SOLVEGATE_CLI_BENCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct bench_pace {
    uint64_t interval_ns; /* between two calls; 0: no limit */
    uint64_t next_ns;     /* when the next call may go out */
};

/* per_second 0: no limit. Times are since the start. */
void bench_pace_init(struct bench_pace *pace, double per_second);
bool bench_pace_allows(const struct bench_pace *pace, uint64_t now_ns);
/* So many calls went out. */
void bench_pace_note(struct bench_pace *pace, uint64_t now_ns, uint64_t calls);

#endif
