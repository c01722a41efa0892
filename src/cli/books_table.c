#include "cli/books_table.h"

#include "cli/grid.h"
#include "cli/show.h"
#include "config/config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <yyjson.h>

/* A gateway cannot have more clients; there are fewer types. */
#define BOOKS_MAX CONFIG_CLIENTS_MAX

/* One client or type over the whole span. */
struct book {
    const char *name; /* borrowed */
    uint64_t free, paid, failed, refused, requests;
    double spent, saved;
};

struct books {
    struct book items[BOOKS_MAX];
    size_t count;
};

size_t books_pages(yyjson_val *root, enum span span, yyjson_val *pages[BOOKS_PAGES_MAX])
{
    size_t count = 0;
    yyjson_arr_iter iter;
    pages[count++] = yyjson_obj_get(root, span == SPAN_START ? "total" : "today");
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "days"), &iter);
    for (yyjson_val *day; span == SPAN_DAYS && count < BOOKS_PAGES_MAX &&
                          (day = yyjson_arr_iter_next(&iter)) != NULL;)
        pages[count++] = day;
    return count;
}

bool books_have_money(yyjson_val *root)
{
    return show_has(yyjson_obj_get(root, "total"), "money_spent");
}

/* ---- sums -------------------------------------------------------------------------------- */

static struct book *find(struct books *books, const char *name)
{
    for (size_t i = 0; i < books->count; i++)
        if (strcmp(books->items[i].name, name) == 0)
            return &books->items[i];
    if (books->count == BOOKS_MAX)
        return NULL;
    books->items[books->count] = (struct book){.name = name};
    return &books->items[books->count++];
}

static void add_tally(struct book *book, yyjson_val *tally)
{
    book->free += show_number(tally, "deduplicated");
    book->paid += show_number(tally, "answered");
    book->failed += show_number(tally, "failed");
    book->refused += show_number(tally, "rejected");
    book->requests += show_number(tally, "requests");
    book->spent += show_real(tally, "money_spent");
    book->saved += show_real(tally, "money_saved");
}

static void add_page(struct books *books, yyjson_val *group)
{
    yyjson_obj_iter iter;
    (void)yyjson_obj_iter_init(group, &iter);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter)) != NULL;) {
        struct book *book = find(books, yyjson_get_str(name));
        if (book != NULL)
            add_tally(book, yyjson_obj_iter_get_val(name));
    }
}

/* Sorts by cost, then by number of requests, highest first. */
static int compare(const void *left, const void *right)
{
    const struct book *const a = left;
    const struct book *const b = right;
    if (a->spent != b->spent)
        return a->spent > b->spent ? -1 : 1;
    if (a->requests != b->requests)
        return a->requests > b->requests ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* ---- printing ---------------------------------------------------------------------------- */

static void add_book(struct grid *grid, const struct book *book, bool has_money)
{
    grid_add(grid, book->name);
    grid_add_share(grid, book->free, book->free + book->paid);
    grid_add_number(grid, book->free);
    grid_add_number(grid, book->paid);
    grid_add_number(grid, book->failed);
    grid_add_number(grid, book->refused);
    grid_add_number(grid, book->requests);
    if (!has_money)
        return;
    grid_add_money(grid, book->spent);
    grid_add_money(grid, book->saved);
}

static void print_table(const struct books *books, const char *title, bool has_money)
{
    const struct grid_column columns[] = {
        {.title = title, .cut = 24, .is_shrinking = true},
        {.title = "SAVED", .is_right = true},
        {.title = "FREE", .is_right = true},
        {.title = "PAID", .is_right = true},
        {.title = "FAILED", .is_right = true, .drop = 1},
        {.title = "REFUSED", .is_right = true, .drop = 2},
        {.title = "REQUESTS", .is_right = true},
        {.title = "SPENT", .is_right = true},
        {.title = "NOT SPENT", .is_right = true},
    };
    const size_t count = sizeof columns / sizeof columns[0];
    struct grid grid;
    grid_init(&grid, columns, has_money ? count : count - 2);
    for (size_t i = 0; i < books->count; i++)
        add_book(&grid, &books->items[i], has_money);
    grid_print(&grid);
    grid_close(&grid);
}

void books_print(yyjson_val *root, enum span span)
{
    static const struct {
        const char *member, *words, *title;
    } groups[] = {{"by_client", "by client", "CLIENT"}, {"by_type", "by type", "TYPE"}};
    static const char *const spans[SPAN_COUNT] = {"today", "8 days", "since start"};
    struct books books;
    yyjson_val *pages[BOOKS_PAGES_MAX];
    const size_t page_count = books_pages(root, span, pages);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        books.count = 0;
        for (size_t page = 0; page < page_count; page++)
            add_page(&books, yyjson_obj_get(pages[page], groups[i].member));
        if (books.count == 0)
            continue;
        qsort(books.items, books.count, sizeof books.items[0], compare);
        (void)printf("\n%s, %s:\n", groups[i].words, spans[span]);
        print_table(&books, groups[i].title, books_have_money(root));
    }
}

void books_print_budgets(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "CLIENT", .cut = 24, .is_shrinking = true},
        {.title = "USED", .is_right = true},
        {.title = "RESERVED", .is_right = true, .drop = 1},
        {.title = "LEFT", .is_right = true},
        {.title = "LIMIT", .is_right = true},
    };
    static const char *const members[] = {"used", "reserved", "left", "limit"};
    yyjson_val *const budgets = yyjson_obj_get(root, "budgets");
    struct grid grid;
    yyjson_obj_iter iter;
    if (yyjson_obj_size(budgets) == 0)
        return;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_obj_iter_init(budgets, &iter);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter)) != NULL;) {
        grid_add(&grid, yyjson_get_str(name));
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            grid_add_number(&grid, show_number(yyjson_obj_iter_get_val(name), members[i]));
    }
    (void)fputs("\nbudgets, today:\n", stdout);
    grid_print(&grid);
    grid_close(&grid);
}
