/* Columns of text for people: aligned, and cut to the width of the terminal. */
#ifndef SOLVEGATE_CLI_GRID_H
#define SOLVEGATE_CLI_GRID_H

#include "base/buf.h"

#define GRID_COLUMNS_MAX 12

struct grid_column {
    const char *title;
    bool is_right;     /* numbers */
    unsigned cut;      /* on a terminal at most this wide; 0: as wide as its longest text */
    unsigned drop;     /* left out when the terminal is too narrow, the highest first; 0: never */
    bool is_shrinking; /* cut when that is not enough */
};

struct grid {
    const struct grid_column *columns; /* borrowed */
    size_t count;
    size_t cells;
    struct buf text; /* the cells, each ended by a NUL */
};

void grid_init(struct grid *grid, const struct grid_column *columns, size_t count);
void grid_close(struct grid *grid);

/* The next cell; control characters are replaced. */
void grid_add(struct grid *grid, const char *text);
void grid_add_number(struct grid *grid, uint64_t number);
void grid_add_seconds(struct grid *grid, double seconds);
/* In percent; nothing of nothing is "-". */
void grid_add_share(struct grid *grid, uint64_t part, uint64_t whole);
/* In whatever unit the prices are. */
void grid_add_money(struct grid *grid, double amount);
void grid_addf(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line of titles and a line per row; width 0: nothing is cut. At most `lines` lines. */
void grid_write(const struct grid *grid, struct buf *out, unsigned width, size_t lines);

/* To standard output, as wide as it is. */
void grid_print(const struct grid *grid);

/* How many columns a text takes on a terminal. */
unsigned grid_text_width(const char *text);
/* The text in exactly or at most that many columns. */
void grid_add_cut(struct buf *out, const char *text, unsigned width);

#endif
