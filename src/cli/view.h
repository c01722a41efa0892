/* Formats the gateway's numbers, times and texts for people. */
#ifndef SOLVEGATE_CLI_VIEW_H
#define SOLVEGATE_CLI_VIEW_H

#include "base/buf.h"

struct yyjson_val;

/* Members of an object; missing ones are 0 or "-". */
uint64_t view_number(struct yyjson_val *object, const char *name);
double view_real(struct yyjson_val *object, const char *name);
bool view_flag(struct yyjson_val *object, const char *name);
const char *view_text(struct yyjson_val *object, const char *name);
bool view_has(struct yyjson_val *object, const char *name);

/* Leaves control characters out: a vendor's or caller's text must not control the terminal. */
void view_add_clean(struct buf *out, const char *text);
/* "850ms", "4.2s", "3m20s", "2h05m", "3d04h": at most six columns. */
void view_add_seconds(struct buf *out, double seconds);
/* 1,234,567 */
void view_add_count(struct buf *out, uint64_t number);

/* Prints the text on standard output. */
void view_print(const struct buf *text);

#endif
