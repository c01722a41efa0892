/* A line of small bars, one column for each value. */
#ifndef SOLVEGATE_CLI_SPARK_H
#define SOLVEGATE_CLI_SPARK_H

#include "base/buf.h"

/* The value of a column that nobody knows; it stays blank. */
#define SPARK_UNKNOWN (-1.0)

/* The highest known value; SPARK_UNKNOWN if there is none. */
double spark_most(const double *values, size_t count);

/* Adds a bar of 1/8 to 8/8 for each value from 0 to most; plain ASCII unless the terminal understands UTF-8. */
void spark_add(struct buf *out, const double *values, size_t count, double most, bool is_utf8);

#endif
