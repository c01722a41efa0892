/* Lines over time: one point per second and one per minute, in two rings of fixed size. Points are numbered from 0 by
 * a clock that never leaps, and once written they never change. */
#ifndef SOLVEGATE_BASE_SERIES_H
#define SOLVEGATE_BASE_SERIES_H

#include "base/histogram.h"

#include <stdbool.h>

/* Counters: a point has what was added in its second or minute. */
#define SERIES_COUNT_LIST(X) \
    X(requests)              \
    X(answered_api)          \
    X(answered_dedup_wait)   \
    X(answered_dedup_cache)  \
    X(answered_idempotent)   \
    X(answered_pool)         \
    X(failed)                \
    X(rejected)              \
    X(submits_accepted)

/* Gauges: a second has the value at its end, a minute the highest of its seconds. */
#define SERIES_GAUGE_LIST(X) \
    X(flights)               \
    X(queued)                \
    X(waiting)               \
    X(slots_used)            \
    X(slots_limit)

/* What happened, to be drawn across the lines. */
#define SERIES_MARK_LIST(X)             \
    X(STARTED, "started")               \
    X(RELOADED, "reloaded")             \
    X(BREAKER_OPENED, "breaker_opened") \
    X(BREAKER_CLOSED, "breaker_closed")

enum series_count {
#define SERIES_AS_COUNT(name) SERIES_COUNT_##name,
    SERIES_COUNT_LIST(SERIES_AS_COUNT)
#undef SERIES_AS_COUNT
        SERIES_COUNTS
};

enum series_gauge {
#define SERIES_AS_GAUGE(name) SERIES_GAUGE_##name,
    SERIES_GAUGE_LIST(SERIES_AS_GAUGE)
#undef SERIES_AS_GAUGE
        SERIES_GAUGES
};

enum series_mark {
#define SERIES_AS_MARK(name, text) SERIES_##name,
    SERIES_MARK_LIST(SERIES_AS_MARK)
#undef SERIES_AS_MARK
        SERIES_MARKS
};

enum series_step { SERIES_SECOND, SERIES_MINUTE, SERIES_STEPS };

/* Points are read in pages: of a minute by the second, of an hour by the minute. There is one page more
 * than ten minutes and a day need, because the newest is short. */
#define SERIES_PAGE 60
#define SERIES_SECOND_PAGES 11
#define SERIES_MINUTE_PAGES 25

struct series_point {
    uint32_t counts[SERIES_COUNTS];
    uint32_t gauges[SERIES_GAUGES];
    uint32_t solve_p50_ms, solve_p95_ms; /* of what was solved in it; only with has_solves */
    uint8_t marks;                       /* a bit for each */
    bool has_solves;
    bool is_known; /* false: the process did not run, and everything else is 0 */
};

struct series_ring {
    struct series_point *points; /* borrowed: of the series */
    uint32_t pages;              /* its room */
    uint64_t count;              /* points so far; the oldest are overwritten */
};

struct series {
    uint64_t started_ms;
    int64_t wall_ms; /* when the last second ended, by the clock of people */
    struct series_ring rings[SERIES_STEPS];
    uint64_t counts[SERIES_COUNTS]; /* as last seen */
    struct histogram solves;        /* as last seen */
    struct histogram minute_solves; /* as seen before the minute */
    struct series_point minute;     /* so far */
    uint64_t minute_number;
    uint8_t marks; /* for the next point */
    struct series_point seconds[SERIES_SECOND_PAGES * SERIES_PAGE];
    struct series_point minutes[SERIES_MINUTE_PAGES * SERIES_PAGE];
};

/* Totals and levels now. */
struct series_sample {
    uint64_t counts[SERIES_COUNTS]; /* since the start */
    uint32_t gauges[SERIES_GAUGES];
    const struct histogram *solves; /* since the start */
};

/* Begins anew, with the mark of a start. */
void series_init(struct series *series, uint64_t now_ms);

/* Ends the second before now; does nothing while that is not over. Seconds since the last call stay unknown, and
 * what was counted in them counts in this one. */
void series_take(struct series *series, uint64_t now_ms, int64_t wall_ms,
                 const struct series_sample *sample);

/* The mark comes into the point that ends next. */
void series_mark(struct series *series, enum series_mark mark);

/* The milliseconds until the second is over. */
uint64_t series_left_ms(const struct series *series, uint64_t now_ms);

/* When the last point ended, by the clock of people as it is set now. */
int64_t series_ended_ms(const struct series *series, enum series_step step);

/* The pages that are kept; both are 0 before the first point. */
uint64_t series_first_page(const struct series *series, enum series_step step);
uint64_t series_last_page(const struct series *series, enum series_step step);

/* How many points of the page there are so far; SERIES_PAGE: it is complete. */
uint32_t series_page_points(const struct series *series, enum series_step step, uint64_t page);
/* One of them. */
const struct series_point *series_point(const struct series *series, enum series_step step,
                                        uint64_t page, uint32_t index);

const char *series_mark_name(enum series_mark mark);

#endif
