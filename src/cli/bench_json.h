/* A benchmark's report as JSON, written and read, and as CSV. */
#ifndef SOLVEGATE_CLI_BENCH_JSON_H
#define SOLVEGATE_CLI_BENCH_JSON_H

#include "cli/bench_report.h"

void bench_json_write(const struct bench_report *report, struct buf *out);
/* Reads what bench_json_write wrote; NULL if it is something else. bench_report_free it. */
struct bench_report *bench_json_read(struct slice json);

/* A line of titles and a line of figures. */
void bench_csv_write(const struct bench_report *report, struct buf *out);

#endif
