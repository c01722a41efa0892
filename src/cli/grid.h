/* Columns of text for people: aligned, and cut to the width of the terminal. */
#ifndef SOLVEGATE_CLI_GRID_H
#define SOLVEGATE_CLI_GRID_H

#include "base/buf.h"

#define GRID_COLUMNS_MAX 12

struct grid_column {
    const char *title;
    bool is_right;     /* numbers */
    unsigned cut;      /* maximum width on a terminal; 0: as wide as its longest text */
    unsigned drop;     /* dropped when the terminal is too narrow, highest first; 0: never */
    bool is_shrinking; /* cut if dropping columns is not enough */
};

struct grid {
    const struct grid_column *columns; /* borrowed */
    size_t count;
    size_t cells;
    struct buf text; /* the cells, each ended by a NUL */
};

void grid_init(struct grid *grid, const struct grid_column *columns, size_t count);
void grid_close(struct grid *grid);

/* Adds the next cell; replaces control characters. */
void grid_add(struct grid *grid, const char *text);
void grid_add_number(struct grid *grid, uint64_t number);
void grid_add_seconds(struct grid *grid, double seconds);
/* Adds a percentage; "-" if whole is 0. */
void grid_add_share(struct grid *grid, uint64_t part, uint64_t whole);
/* Adds an amount in the unit of the configured prices. */
void grid_add_money(struct grid *grid, double amount);
void grid_addf(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a line of titles and a line per row, at most `lines` lines; a width of 0 cuts nothing. */
void grid_write(const struct grid *grid, struct buf *out, unsigned width, size_t lines);

/* Writes to standard output, cut to the terminal's width. */
void grid_print(const struct grid *grid);

/* Adds the text cut to that many columns. */
void grid_add_cut(struct buf *out, const char *text, unsigned width);
/* The same for a text of others, without control characters. */
void grid_add_clean_cut(struct buf *out, const char *text, unsigned width);

#endif
