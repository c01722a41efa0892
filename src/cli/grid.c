#include "cli/grid.h"

#include "base/assert.h"
#include "cli/show.h"
#include "cli/term.h"

#include <limits.h>
#include <stdio.h>

#define TEXT_MAX_BYTES ((size_t)16 * 1024 * 1024)
#define CELL_MAX_BYTES 512
#define GAP 2
#define SHRUNK_MIN 6
#define HIDDEN UINT_MAX

void grid_init(struct grid *grid, const struct grid_column *columns, size_t count)
{
    ASSERT(count <= GRID_COLUMNS_MAX);
    *grid = (struct grid){.columns = columns, .count = count};
    buf_init(&grid->text, TEXT_MAX_BYTES);
}

void grid_close(struct grid *grid)
{
    buf_close(&grid->text);
}

static void end_cell(struct grid *grid)
{
    buf_add_char(&grid->text, '\0');
    grid->cells++;
}

void grid_add(struct grid *grid, const char *text)
{
    show_add_clean(&grid->text, text);
    end_cell(grid);
}

void grid_add_number(struct grid *grid, uint64_t number)
{
    show_add_count(&grid->text, number);
    end_cell(grid);
}

void grid_add_seconds(struct grid *grid, double seconds)
{
    show_add_seconds(&grid->text, seconds);
    end_cell(grid);
}

void grid_addf(struct grid *grid, const char *format, ...)
{
    char cell[CELL_MAX_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(cell, sizeof cell, format, args);
    va_end(args);
    grid_add(grid, cell);
}

void grid_add_share(struct grid *grid, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        grid_add(grid, "-");
    else
        grid_addf(grid, "%.1f %%", 100.0 * (double)part / (double)whole);
}

void grid_add_money(struct grid *grid, double amount)
{
    /* A fixed number of decimals keeps the column aligned; prices are thousandths. */
    grid_addf(grid, "%.4f", amount);
}

/* UTF-8 continuation bytes take no column of their own. */
static bool is_start(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* The number of terminal columns that a text takes. */
static unsigned text_width(const char *text)
{
    unsigned width = 0;
    for (; *text != '\0'; text++)
        width += is_start(*text) ? 1 : 0;
    return width;
}

void grid_add_cut(struct buf *out, const char *text, unsigned width)
{
    const bool is_cut = text_width(text) > width;
    unsigned left = is_cut && width > 0 ? width - 1 : width;
    for (; *text != '\0'; text++) {
        if (is_start(*text) && left-- == 0)
            break;
        buf_add_char(out, *text);
    }
    if (is_cut && width > 0)
        buf_add(out, slice_from(term_is_utf8() ? "\xe2\x80\xa6" : "~"));
}

void grid_add_clean_cut(struct buf *out, const char *text, unsigned width)
{
    struct buf clean;
    buf_init(&clean, TEXT_MAX_BYTES);
    show_add_clean(&clean, text);
    buf_add_char(&clean, '\0');
    grid_add_cut(out, clean.data, width);
    buf_close(&clean);
}

static unsigned sum(const unsigned *widths, size_t count)
{
    unsigned total = 0;
    for (size_t i = 0; i < count; i++)
        total += widths[i] == HIDDEN ? 0 : widths[i] + (i == 0 ? 0 : GAP);
    return total;
}

/* Drops columns until the rest fits or none can be dropped. */
static void drop(const struct grid *grid, unsigned *widths, unsigned width)
{
    while (sum(widths, grid->count) > width) {
        size_t chosen = grid->count;
        for (size_t i = 0; i < grid->count; i++)
            if (widths[i] != HIDDEN && grid->columns[i].drop > 0 &&
                (chosen == grid->count || grid->columns[i].drop > grid->columns[chosen].drop))
                chosen = i;
        if (chosen == grid->count)
            return;
        widths[chosen] = HIDDEN;
    }
}

/* Takes one character at a time off the widest shrinkable column until the row fits or none can
 * shrink. */
static void shrink(const struct grid *grid, unsigned *widths, unsigned width)
{
    while (sum(widths, grid->count) > width) {
        size_t widest = grid->count;
        for (size_t i = 0; i < grid->count; i++)
            if (grid->columns[i].is_shrinking && widths[i] != HIDDEN && widths[i] > SHRUNK_MIN &&
                (widest == grid->count || widths[i] > widths[widest]))
                widest = i;
        if (widest == grid->count)
            return;
        widths[widest]--;
    }
}

static void measure(const struct grid *grid, unsigned *widths, unsigned width)
{
    const char *cell = grid->text.data;
    ASSERT(grid->count > 0);
    for (size_t i = 0; i < grid->count; i++)
        widths[i] = text_width(grid->columns[i].title);
    for (size_t i = 0; i < grid->cells; i++) {
        const unsigned needed = text_width(cell);
        unsigned *const most = &widths[i % grid->count];
        *most = needed > *most ? needed : *most;
        cell += strlen(cell) + 1;
    }
    if (width == 0)
        return;
    for (size_t i = 0; i < grid->count; i++)
        if (grid->columns[i].cut != 0 && widths[i] > grid->columns[i].cut)
            widths[i] = grid->columns[i].cut;
    drop(grid, widths, width);
    shrink(grid, widths, width);
}

static void add_blanks(struct buf *out, unsigned count)
{
    for (; count > 0; count--)
        buf_add_char(out, ' ');
}

static void add_cell(const struct grid *grid, struct buf *out, size_t column, const char *text,
                     unsigned width)
{
    const unsigned needed = text_width(text);
    const unsigned blanks = needed < width ? width - needed : 0;
    if (width != HIDDEN) {
        if (column > 0)
            add_blanks(out, GAP);
        if (grid->columns[column].is_right)
            add_blanks(out, blanks);
        grid_add_cut(out, text, width);
        if (!grid->columns[column].is_right)
            add_blanks(out, blanks);
    }
    if (column + 1 < grid->count)
        return;
    /* Trailing blanks may make the line wrap. */
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    buf_add_char(out, '\n');
}

void grid_write(const struct grid *grid, struct buf *out, unsigned width, size_t lines)
{
    unsigned widths[GRID_COLUMNS_MAX];
    const char *cell = grid->text.data;
    ASSERT(grid->count > 0);
    if (lines == 0)
        return;
    measure(grid, widths, width);
    for (size_t i = 0; i < grid->count; i++)
        add_cell(grid, out, i, grid->columns[i].title, widths[i]);
    for (size_t i = 0; i < grid->cells && i / grid->count + 1 < lines; i++) {
        add_cell(grid, out, i % grid->count, cell, widths[i % grid->count]);
        cell += strlen(cell) + 1;
    }
}

void grid_print(const struct grid *grid)
{
    struct buf out;
    buf_init(&out, 2 * TEXT_MAX_BYTES);
    grid_write(grid, &out, term_width(), SIZE_MAX);
    show_print(&out);
    buf_close(&out);
}
