/* Records what others ask a gateway for, to be sent again by a benchmark. */
#ifndef SOLVEGATE_CLI_BENCH_RECORD_H
#define SOLVEGATE_CLI_BENCH_RECORD_H

#include "cli/bench_flags.h"

/* Watches the gateway's flights for the plan's duration, or until a signal; returns the exit code. */
int bench_record(const struct command *command, struct bench_order *order);

/* Reads the gateway's log instead, to its end or until a signal; likewise. */
int bench_record_log(const struct bench_order *order);

#endif
