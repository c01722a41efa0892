/* What the live view knows: the gateway's books, sampled, with rates between samples. */
#ifndef SOLVEGATE_CLI_TOP_FEED_H
#define SOLVEGATE_CLI_TOP_FEED_H

#include "cli/flight_list.h"
#include "cli/remote.h"

struct yyjson_doc;

/* Enough for a minute of looks at one a second. */
#define TOP_SAMPLES 61

enum top_counter {
    TOP_REQUESTS,
    TOP_FREE,
    TOP_PAID,
    TOP_FAILED,
    TOP_REFUSED,
    TOP_SUBMITS,
    TOP_SOLVES,
    TOP_COUNTERS
};

/* The counter's name in the gateway's statistics. */
const char *top_counter_member(enum top_counter counter);

struct top_sample {
    uint64_t at_ms;
    uint64_t counters[TOP_COUNTERS];
};

struct top_feed {
    struct remote remote;
    struct remote_reply reply;
    struct yyjson_doc *stats;   /* owned; of the last look that worked */
    struct yyjson_doc *letters; /* owned, may be NULL */
    struct flight_list flights;
    uint64_t uptime_s; /* 0: not known */
    struct top_sample samples[TOP_SAMPLES];
    size_t sample_count; /* ever taken */
    char trouble[512];   /* why the last look did not work, or empty */
};

void top_feed_init(struct top_feed *feed);
void top_feed_close(struct top_feed *feed);

/* One look; returns EX_OK, or for the first one an exit code after telling why. */
int top_feed_update(struct top_feed *feed, const struct command *command, bool is_first);

/* Per second over the last so many looks; negative: not known yet. */
double top_feed_rate(const struct top_feed *feed, enum top_counter counter, size_t looks);
/* Seconds that rate is about. */
double top_feed_span(const struct top_feed *feed, size_t looks);

#endif
