/* Where a benchmark's report goes: standard output, a page, and beside an older report. */
#ifndef SOLVEGATE_CLI_BENCH_OUT_H
#define SOLVEGATE_CLI_BENCH_OUT_H

#include "cli/bench_flags.h"
#include "cli/bench_report.h"
#include "cli/bench_trace.h"

/* Before anything is paid for: reads the report to compare with (*old, NULL without one; free it with
 * bench_report_free) and tries whether the page can be written. Returns EX_OK, or an exit code after telling why. */
int bench_out_check(const struct bench_order *order, struct bench_report **old);

/* Reads the trace that is sent again into the plan, and fills in what follows from it; likewise. The trace must outlive
 * the plan; close it in any case. */
int bench_out_load_trace(struct bench_order *order, struct bench_trace *trace);

/* Writes everything that was asked for; returns the exit code. */
int bench_out_write(const struct bench_order *order, const struct bench_report *report,
                    const struct bench_report *old);

#endif
