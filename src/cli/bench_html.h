/* A benchmark's report as one HTML page with charts, which loads nothing from elsewhere. */
#ifndef SOLVEGATE_CLI_BENCH_HTML_H
#define SOLVEGATE_CLI_BENCH_HTML_H

#include "cli/bench_report.h"

/* old is a report to compare with, or NULL. */
void bench_html_write(const struct bench_report *report, const struct bench_report *old,
                      struct buf *out);

#endif
