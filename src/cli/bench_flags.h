/* The flags of `solvegate bench`: what they are, and the plan that they make. */
#ifndef SOLVEGATE_CLI_BENCH_FLAGS_H
#define SOLVEGATE_CLI_BENCH_FLAGS_H

#include "cli/bench_plan.h"
#include "cli/remote.h"

#define BENCH_LEVELS_MAX 8

extern const struct cli_flag bench_flags[];

struct bench_order {
    struct bench_plan plan;
    struct remote remote;
    const char *configured_url; /* where this machine is set up to ask */
    const char *images;         /* the folder, or NULL */
    const char *record;         /* the trace to write, or NULL */
    const char *from_log;       /* the gateway's log to record from, "-", or NULL */
    const char *replay;         /* the trace to send again, or NULL */
    const char *html;           /* the file to write, or NULL */
    const char *compare;        /* the report to read, or NULL */
    bool is_owned;              /* --i-own-this-host */
    bool is_sure;               /* --yes */
    bool is_csv;
    bool is_vendor;                    /* the vendor itself is measured */
    const char *methods;               /* of a vendor: separated by commas */
    uint32_t levels[BENCH_LEVELS_MAX]; /* requests at once, one after the other */
    size_t level_count;
    double budget, price; /* of a vendor; 0: not given */
};

/* Sets the defaults, with a seed of its own for each run. */
void bench_order_init(struct bench_order *order);

/* Reads all arguments and fills in what was not given; CLI_END if the order can be carried out. */
enum cli_result bench_order_read(struct cli_args *args, struct bench_order *order);

#endif
