#include "cli/shadow_table.h"

#include "cli/grid.h"
#include "cli/show.h"

#include <inttypes.h>
#include <yyjson.h>

/* Digits of a key that are shown: enough to find it in the output of `solvegate explain`. */
#define KEY_SHOWN 16

static const char *const span_words[SPAN_COUNT] = {"today", "8 days", "since start"};

/* ---- sums -------------------------------------------------------------------------------- */

static yyjson_val *shadow_of(yyjson_val *object)
{
    return yyjson_obj_get(object, "shadow");
}

static uint64_t sum(yyjson_val *const pages[], size_t count, const char *name)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += show_number(shadow_of(pages[i]), name);
    return total;
}

static double sum_money(yyjson_val *const pages[], size_t count, const char *group,
                        const char *name)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        yyjson_val *const shadow = shadow_of(pages[i]);
        total += show_real(group == NULL ? shadow : yyjson_obj_get(shadow, group), name);
    }
    return total;
}

/* ---- the headline ------------------------------------------------------------------------ */

static void print_clients(yyjson_val *clients)
{
    struct buf out;
    yyjson_arr_iter iter;
    buf_init(&out, (size_t)1 << 18);
    buf_add(&out, SLICE_OF("In shadow mode now: "));
    (void)yyjson_arr_iter_init(clients, &iter);
    bool is_first = true;
    for (yyjson_val *name; (name = yyjson_arr_iter_next(&iter)) != NULL;) {
        if (!is_first)
            buf_add(&out, SLICE_OF(", "));
        is_first = false;
        if (yyjson_is_str(name))
            show_add_clean(&out, yyjson_get_str(name));
    }
    buf_add(&out, is_first ? SLICE_OF("nobody.\n") : SLICE_OF(".\n"));
    show_print(&out);
    buf_close(&out);
}

static void print_headline(yyjson_val *shadow, bool has_money)
{
    yyjson_val *const day = yyjson_obj_get(shadow, "last_24_hours");
    const uint64_t paid = show_number(day, "paid");
    if (paid == 0) {
        (void)puts("Shadow: nothing was paid for in shadow mode in the last 24 hours.");
        return;
    }
    (void)printf("Shadow: %.0f %% of your solves in the last 24 hours were duplicates"
                 " (%" PRIu64 " of %" PRIu64 ")",
                 show_real(day, "duplicates_pct"), show_number(day, "duplicates"), paid);
    if (has_money)
        (void)printf("; serving them once would have saved %.2f", show_real(day, "money_saved"));
    (void)puts(".");
}

/* ---- by source --------------------------------------------------------------------------- */

static void print_sources(yyjson_val *const pages[], size_t count, bool has_money)
{
    static const struct grid_column columns[] = {
        {.title = "HOW"},
        {.title = "DUPLICATES", .is_right = true},
        {.title = "WOULD SAVE", .is_right = true},
    };
    static const struct {
        const char *member, *words;
    } sources[] = {
        {"dedup_wait", "joined a solve under way"},
        {"dedup_cache", "from memory"},
        {"idempotent", "by idempotency key"},
    };
    struct grid grid;
    grid_init(&grid, columns, has_money ? 3 : 2);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        grid_add(&grid, sources[i].words);
        grid_add_number(&grid, sum(pages, count, sources[i].member));
        if (has_money)
            grid_add_money(&grid, sum_money(pages, count, "money_saved_by", sources[i].member));
    }
    grid_add(&grid, "needed after all, as retries");
    grid_addf(&grid, "-%" PRIu64, sum(pages, count, "retried"));
    if (has_money)
        grid_add_money(&grid, -sum_money(pages, count, NULL, "money_retried"));
    grid_print(&grid);
    grid_close(&grid);
}

/* ---- by client and by type --------------------------------------------------------------- */

/* Does an earlier page have this member? Then it is printed already. */
static bool is_known(yyjson_val *const pages[], size_t before, const char *group, const char *name)
{
    for (size_t i = 0; i < before; i++)
        if (shadow_of(yyjson_obj_get(yyjson_obj_get(pages[i], group), name)) != NULL)
            return true;
    return false;
}

static void add_member(struct grid *grid, yyjson_val *const pages[], size_t count,
                       const char *group, const char *name, bool has_money)
{
    yyjson_val *members[BOOKS_PAGES_MAX];
    for (size_t i = 0; i < count; i++)
        members[i] = yyjson_obj_get(yyjson_obj_get(pages[i], group), name);
    const uint64_t paid = sum(members, count, "paid");
    const uint64_t duplicates = sum(members, count, "duplicates");
    grid_add(grid, name);
    grid_add_share(grid, duplicates, paid);
    grid_add_number(grid, duplicates);
    grid_add_number(grid, paid);
    if (!has_money)
        return;
    grid_add_money(grid, sum_money(members, count, NULL, "money_spent"));
    grid_add_money(grid, sum_money(members, count, NULL, "money_saved"));
}

static void print_group(yyjson_val *const pages[], size_t count, const char *group,
                        const char *title, bool has_money)
{
    const struct grid_column columns[] = {
        {.title = title, .cut = 24, .is_shrinking = true},
        {.title = "SHARE", .is_right = true},
        {.title = "DUPLICATES", .is_right = true},
        {.title = "PAID", .is_right = true},
        {.title = "SPENT", .is_right = true},
        {.title = "WOULD SAVE", .is_right = true},
    };
    struct grid grid;
    grid_init(&grid, columns, has_money ? 6 : 4);
    for (size_t page = 0; page < count; page++) {
        yyjson_obj_iter iter;
        (void)yyjson_obj_iter_init(yyjson_obj_get(pages[page], group), &iter);
        for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter)) != NULL;) {
            const char *const text = yyjson_get_str(name);
            if (shadow_of(yyjson_obj_iter_get_val(name)) != NULL &&
                !is_known(pages, page, group, text))
                add_member(&grid, pages, count, group, text, has_money);
        }
    }
    (void)fputc('\n', stdout);
    grid_print(&grid);
    grid_close(&grid);
}

/* ---- keys and targets -------------------------------------------------------------------- */

static void print_repeats(yyjson_val *repeats, bool has_money)
{
    static const struct grid_column columns[] = {
        {.title = "REPEATED KEY"},
        {.title = "HOST", .cut = 40, .is_shrinking = true},
        {.title = "TYPE"},
        {.title = "CLIENT", .cut = 24, .drop = 1},
        {.title = "DUPLICATES", .is_right = true},
        {.title = "WOULD SAVE", .is_right = true},
    };
    struct grid grid;
    yyjson_arr_iter iter;
    if (yyjson_arr_size(repeats) == 0)
        return;
    grid_init(&grid, columns, has_money ? 6 : 5);
    (void)yyjson_arr_iter_init(repeats, &iter);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter)) != NULL;) {
        const uint64_t times = show_number(one, "duplicates");
        const bool is_sure = times == show_number(one, "at_least");
        grid_addf(&grid, "%.*s", KEY_SHOWN, show_text(one, "key"));
        grid_add(&grid, show_text(one, "host"));
        grid_add(&grid, show_text(one, "type"));
        grid_add(&grid, show_text(one, "client"));
        grid_addf(&grid, "%s%" PRIu64, is_sure ? "" : "up to ", times);
        if (has_money)
            grid_add_money(&grid, show_real(one, "money_saved"));
    }
    (void)puts("\nKeys that repeat most, since the gateway's start:");
    grid_print(&grid);
    grid_close(&grid);
}

static void add_opinions(struct grid *grid, yyjson_val *target, const char *name)
{
    yyjson_val *const opinions = yyjson_obj_get(target, name);
    const uint64_t bad = show_number(opinions, "bad");
    grid_add_number(grid, bad + show_number(opinions, "good"));
    grid_add_share(grid, bad, bad + show_number(opinions, "good"));
}

static void print_targets(yyjson_val *targets)
{
    static const struct grid_column columns[] = {
        {.title = "TARGET", .cut = 40, .is_shrinking = true},
        {.title = "TYPE"},
        {.title = "SHARED", .is_right = true},
        {.title = "BAD", .is_right = true},
        {.title = "FOR ONE", .is_right = true, .drop = 1},
        {.title = "BAD", .is_right = true, .drop = 1},
        {.title = "ADVICE"},
    };
    struct grid grid;
    yyjson_arr_iter iter;
    if (yyjson_arr_size(targets) == 0)
        return;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_arr_iter_init(targets, &iter);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter)) != NULL;) {
        grid_add(&grid, show_text(one, "host"));
        grid_add(&grid, show_text(one, "type"));
        add_opinions(&grid, one, "shared");
        add_opinions(&grid, one, "own");
        grid_add(&grid, yyjson_is_str(yyjson_obj_get(one, "advice")) ? show_text(one, "advice")
                                                                     : "more reports");
    }
    (void)puts("\nReports about solutions, by target, since the gateway's start:");
    grid_print(&grid);
    grid_close(&grid);
}

void shadow_print(yyjson_val *root, enum span span)
{
    yyjson_val *const shadow = shadow_of(root);
    yyjson_val *pages[BOOKS_PAGES_MAX];
    const bool has_money = books_have_money(root);
    const size_t count = books_pages(root, span, pages);
    print_headline(shadow, has_money);
    print_clients(yyjson_obj_get(shadow, "clients"));
    if (sum(pages, count, "paid") > 0) {
        (void)printf("\nif it had been served, %s:\n", span_words[span]);
        print_sources(pages, count, has_money);
        print_group(pages, count, "by_client", "CLIENT", has_money);
        print_group(pages, count, "by_type", "TYPE", has_money);
    }
    print_repeats(yyjson_obj_get(shadow, "repeats"), has_money);
    print_targets(yyjson_obj_get(shadow, "targets"));
}
