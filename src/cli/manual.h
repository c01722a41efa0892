/* The manual pages, written as roff from the same tables as the help. */
#ifndef SOLVEGATE_CLI_MANUAL_H
#define SOLVEGATE_CLI_MANUAL_H

#include "base/buf.h"

#define MANUAL_PAGES "solvegate.1 solvegate.json.5"

/* Prints the page on standard output; returns the exit code. */
int manual_print(const char *page);

/* Adds text that roff shows unchanged: hyphens stay hyphens, and text in backquotes becomes bold.
 * It must begin a line; newlines in it stay newlines. */
void manual_add_text(struct buf *out, struct slice text);
/* Adds the head of a page, including its NAME section. */
void manual_add_head(struct buf *out, const char *name, int section, const char *summary);

#endif
