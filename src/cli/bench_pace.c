#include "cli/bench_pace.h"

/* Time that was not used is made up for so far only: enough for a loop that is a little late, and no burst. */
#define CREDIT_NS ((uint64_t)20000000)

void bench_pace_init(struct bench_pace *pace, double per_second)
{
    *pace = (struct bench_pace){.interval_ns = per_second > 0 ? (uint64_t)(1e9 / per_second) : 0};
}

bool bench_pace_allows(const struct bench_pace *pace, uint64_t now_ns)
{
    return pace->interval_ns == 0 || now_ns >= pace->next_ns;
}

void bench_pace_note(struct bench_pace *pace, uint64_t now_ns, uint64_t calls)
{
    const uint64_t earliest = now_ns > CREDIT_NS ? now_ns - CREDIT_NS : 0;
    if (pace->next_ns < earliest)
        pace->next_ns = earliest;
    pace->next_ns += calls * pace->interval_ns;
}
