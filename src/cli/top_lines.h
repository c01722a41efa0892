/* The lines over time of the live view: the gateway's last seconds as bars. */
#ifndef SOLVEGATE_CLI_TOP_LINES_H
#define SOLVEGATE_CLI_TOP_LINES_H

#include "cli/remote.h"

#define TOP_LINES 7

struct yyjson_doc;

/* Zero-initialised. The newest page is short at times, so the one before it is kept as well. */
struct top_lines {
    struct yyjson_doc *latest; /* owned, or NULL */
    struct yyjson_doc *before; /* owned, or NULL */
};

void top_lines_close(struct top_lines *lines);

/* Fetches the newest seconds; without an answer there are no lines. */
void top_lines_update(struct top_lines *lines, struct remote *remote, struct remote_reply *reply);

/* How many lines there are to show: none before the first second, one more where something is marked. */
size_t top_lines_count(const struct top_lines *lines, unsigned width);

/* Writes at most so many, the most telling ones; the width is that of the terminal, or 0. */
void top_lines_write(const struct top_lines *lines, struct buf *out, unsigned width, size_t most);

#endif
