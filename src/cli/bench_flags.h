/* The flags of `solvegate bench`: what they are, and the plan that they make. */
#ifndef SOLVEGATE_CLI_BENCH_FLAGS_H
#define SOLVEGATE_CLI_BENCH_FLAGS_H

#include "cli/bench_plan.h"
#include "cli/remote.h"

extern const struct cli_flag bench_flags[];

struct bench_order {
    struct bench_plan plan;
    struct remote remote;
    const char *images;  /* the folder, or NULL */
    const char *html;    /* the file to write, or NULL */
    const char *compare; /* the report to read, or NULL */
    bool is_owned;       /* --i-own-this-host */
    bool is_sure;        /* --yes */
    bool is_csv;
};

/* Sets the defaults, with a seed of its own for each run. */
void bench_order_init(struct bench_order *order);

/* Reads all arguments and fills in what was not given; CLI_END if the order can be carried out. */
enum cli_result bench_order_read(struct cli_args *args, struct bench_order *order);

#endif
