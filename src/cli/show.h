/* Formats the gateway's numbers, times and texts for people. */
#ifndef SOLVEGATE_CLI_SHOW_H
#define SOLVEGATE_CLI_SHOW_H

#include "base/buf.h"

struct yyjson_val;

/* Members of an object; missing ones are 0 or "-". */
uint64_t show_number(struct yyjson_val *object, const char *name);
double show_real(struct yyjson_val *object, const char *name);
bool show_flag(struct yyjson_val *object, const char *name);
const char *show_text(struct yyjson_val *object, const char *name);
bool show_has(struct yyjson_val *object, const char *name);

/* Leaves out what controls the terminal or turns the writing around: the text is a vendor's or caller's. */
void show_add_clean(struct buf *out, const char *text);
/* The same for an address, without the user and password in it, and without a query, where others keep theirs. */
void show_add_url(struct buf *out, const char *url);
/* "850ms", "4.2s", "3m20s", "2h05m", "3d04h": at most six columns. */
void show_add_seconds(struct buf *out, double seconds);
/* 1,234,567 */
void show_add_count(struct buf *out, uint64_t number);

/* Adds a JSON array with a text for each line. */
void show_add_lines(struct buf *out, const char *name, struct slice lines);

/* Prints the text on standard output. */
void show_print(const struct buf *text);

#endif
