/* A benchmark's report for people, within 80 columns. */
#ifndef SOLVEGATE_CLI_BENCH_PRINT_H
#define SOLVEGATE_CLI_BENCH_PRINT_H

#include "cli/bench_report.h"

/* is_utf8: bars and curves may be drawn with block characters. */
void bench_print_write(const struct bench_report *report, bool is_utf8, struct buf *out);

#endif
