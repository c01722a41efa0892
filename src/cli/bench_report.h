/* The result of a benchmark as plain figures. */
#ifndef SOLVEGATE_CLI_BENCH_REPORT_H
#define SOLVEGATE_CLI_BENCH_REPORT_H

#include "cli/bench_books.h"
#include "cli/bench_run.h"

#define BENCH_SHARES 6
#define BENCH_TEXT_MAX 256
/* Classes of 1, 2 and 5 times a power of ten, from 0.1 ms to 10 minutes. */
#define BENCH_CLASSES 21

/* 0.5 to 0.9999, and their names: "p50" to "p99.99". */
extern const double bench_shares[BENCH_SHARES];
extern const char *const bench_share_names[BENCH_SHARES];

/* For people: "own solve". */
extern const char *const bench_source_labels[SOURCE_COUNT];

struct bench_step_row {
    double rate; /* wanted, per second */
    uint64_t sent, solved, failed;
    uint64_t p50_us, p99_us;
};

/* How many solves took longer than the class before this one, and not longer than up_to_us. */
struct bench_class {
    uint64_t up_to_us;
    uint64_t count;
};

struct bench_report {
    char url[BENCH_TEXT_MAX];
    char method[BENCH_TEXT_MAX];
    char dialect[16];
    char load[BENCH_TEXT_MAX]; /* "open loop, 200/s for 30s" */
    int64_t started_wall_ms;
    double seconds; /* until the last answer */
    double rate;    /* solves a second, until the last one or the end of the load */
    uint64_t sent, solved, failed, unfinished;
    double mean_us;
    uint64_t min_us, max_us;
    uint64_t percentile_us[BENCH_SHARES];
    uint64_t lag_p99_us;
    bool was_full; /* as in struct bench_end */
    bool has_sources;
    uint64_t sources[SOURCE_COUNT];
    struct bench_code codes[BENCH_CODES_MAX];
    size_t code_count;
    bool has_books;
    struct bench_books books;
    struct bench_step_row steps[BENCH_STEPS_MAX];
    size_t step_count;
    struct bench_class classes[BENCH_CLASSES];
    size_t class_count;
    unsigned interval_s;
    struct bench_interval intervals[BENCH_INTERVALS_MAX];
    size_t interval_count;
};

/* Takes the figures of a run. books may be NULL: then the cost is not known. The report is large: on the heap. */
struct bench_report *bench_report_new(const struct bench_plan *plan, const char *url,
                                      struct bench_tally *tally, const struct bench_end *end,
                                      const struct bench_books *books);
void bench_report_free(struct bench_report *report);

/* A percentile says something only where that share of so many solves is at least one short of all. */
bool bench_report_tells(uint64_t solved, double share);

/* "open loop, 200/s for 30s" or "closed loop, 50 at once, 1,000 requests". */
void bench_describe_load(const struct bench_plan *plan, struct buf *out);

#endif
