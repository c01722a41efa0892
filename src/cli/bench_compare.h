/* Two reports side by side, with what changed by more than the noise of the runs. */
#ifndef SOLVEGATE_CLI_BENCH_COMPARE_H
#define SOLVEGATE_CLI_BENCH_COMPARE_H

#include "cli/bench_report.h"

enum bench_verdict { BENCH_SAME, BENCH_BETTER, BENCH_WORSE, BENCH_UNSURE };

/* A figure of a run and its standard error; a negative error means that the run was too short to tell. */
struct bench_figure {
    double value;
    double error;
};

/* A change counts if it is larger than twice the errors of both, and than 1 %. */
enum bench_verdict bench_compare_figures(struct bench_figure old, struct bench_figure new,
                                         bool is_more_better);

/* The solves a second of the intervals between the first answer and the last, and their error. */
struct bench_figure bench_compare_rate(const struct bench_report *report);

#define BENCH_COMPARE_ROWS 13
#define BENCH_CELL_MAX 24

struct bench_compare_row {
    const char *label, *verdict;
    char before[BENCH_CELL_MAX], now[BENCH_CELL_MAX], change[BENCH_CELL_MAX];
};

/* The figures that both reports have, as texts; returns how many there are. */
size_t bench_compare_rows(const struct bench_report *old, const struct bench_report *new,
                          struct bench_compare_row out[BENCH_COMPARE_ROWS]);

/* The same was asked for in the same way. */
bool bench_compare_is_alike(const struct bench_report *old, const struct bench_report *new);

/* Writes a table for people, within 80 columns. */
void bench_compare_write(const struct bench_report *old, const struct bench_report *new,
                         struct buf *out);

#endif
