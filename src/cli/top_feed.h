/* The data of the live view: samples of the gateway's books, and rates between samples. */
#ifndef SOLVEGATE_CLI_TOP_FEED_H
#define SOLVEGATE_CLI_TOP_FEED_H

#include "cli/flight_list.h"
#include "cli/remote.h"
#include "cli/top_series.h"

struct yyjson_doc;

/* One minute of samples at one a second. */
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
    struct yyjson_doc *stats;   /* owned; from the last successful update */
    struct yyjson_doc *letters; /* owned, may be NULL */
    struct flight_list flights;
    struct top_series series;
    uint64_t uptime_s; /* 0: unknown */
    struct top_sample samples[TOP_SAMPLES];
    size_t sample_count; /* taken so far */
    char trouble[512];   /* why the last update failed, or empty */
};

void top_feed_init(struct top_feed *feed);
void top_feed_close(struct top_feed *feed);

/* Updates once; returns EX_OK, or for the first update an exit code after telling why it failed. */
int top_feed_update(struct top_feed *feed, const struct command *command, bool is_first);

/* Rate per second over the last `looks` updates; negative: not known yet. */
double top_feed_rate(const struct top_feed *feed, enum top_counter counter, size_t looks);
/* The seconds that this rate covers. */
double top_feed_span(const struct top_feed *feed, size_t looks);

#endif
