/* Escapes arbitrary bytes for use within one line, in JSON and on terminals. */
#ifndef SOLVEGATE_SYS_LOG_ESCAPE_H
#define SOLVEGATE_SYS_LOG_ESCAPE_H

#include "base/slice.h"

/* Longest escape of one input character. */
#define LOG_ESCAPE_MAX 8

/* Writes one character of text at *at to out, escaped for a JSON string, and advances *at. Returns
 * the number of bytes written. Control characters, line separators and marks that change the
 * direction of text become \uNNNN; a byte that is not UTF-8 becomes \\xNN, which is readable and
 * still JSON. */
size_t log_escape_next(struct slice text, size_t *at, char out[LOG_ESCAPE_MAX]);

/* True if the text can stand in a key=value line without quotes. */
bool log_is_bare(struct slice text);

#endif
