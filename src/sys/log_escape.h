/* Makes any bytes harmless inside one line: for JSON, and for terminals. */
#ifndef SOLVEGATE_SYS_LOG_ESCAPE_H
#define SOLVEGATE_SYS_LOG_ESCAPE_H

#include "base/slice.h"

/* Longest escape of one input character. */
#define LOG_ESCAPE_MAX 8

/* One character of text from *at on, written to out as it may stand inside a JSON string; moves *at on.
 * Returns how many bytes were written. Control characters, line separators and marks that turn the direction of
 * text become \uNNNN; a byte that is no UTF-8 becomes \\xNN, which is readable and still JSON. */
size_t log_escape_next(struct slice text, size_t *at, char out[LOG_ESCAPE_MAX]);

/* Can it stand in a key=value line without quotes? */
bool log_is_bare(struct slice text);

#endif
