/* What shadow mode found out: savings of the last day, keys that repeat most, advice by target
 * (docs/design.md 5.11). */
#ifndef SOLVEGATE_FINDINGS_H
#define SOLVEGATE_FINDINGS_H

#include <solvegate/stats.h>
#include <solvegate/types.h>

struct engine;

/* The sum of the 24 hours of the clock up to the one that wall_ms is in. */
struct shadow_hour engine_shadow_day(const struct engine *engine, int64_t wall_ms);

/* A key that was paid for though it need not have been; texts are borrowed until the next step. */
struct repeat_view {
    struct key key;
    struct slice host; /* of its page, or none */
    enum type type;
    client_id client;     /* who repeated it last */
    uint64_t times;       /* duplicates paid for, at most */
    uint64_t uncertain;   /* of them, those that may have been another key's */
    uint64_t saved_micro; /* what the certain ones cost */
};
/* The keys that repeat most, the most frequent first. */
size_t engine_list_repeats(const struct engine *engine, struct repeat_view *views, size_t room);

/* What callers reported about the solutions of one host and type. */
struct target_view {
    struct slice host;
    enum type type;
    uint64_t own_good, own_bad;       /* solutions that one request got */
    uint64_t shared_good, shared_bad; /* solutions that several requests got */
    enum reuse advice;                /* REUSE_DEFAULT: the reports do not tell */
};
/* Targets with reports, the most reported first. */
size_t engine_list_targets(const struct engine *engine, struct target_view *views, size_t room);

#endif
