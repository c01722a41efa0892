/* The lines over time of the live view: the gateway's last seconds, or its last day, as bars. */
#ifndef SOLVEGATE_CLI_TOP_LINES_H
#define SOLVEGATE_CLI_TOP_LINES_H

#include "cli/top_series.h"

/* The most there can be: a title, the lines, and the marks. */
#define TOP_LINES_MAX 16

/* How many lines there are to show: none before the first second. The width is that of the terminal, or 0. */
size_t top_lines_count(const struct top_series *series, unsigned width);

/* Writes at most so many, the most telling ones. */
void top_lines_write(const struct top_series *series, struct buf *out, unsigned width, size_t most);

#endif
