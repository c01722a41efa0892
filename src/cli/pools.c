#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/remote.h"
#include "cli/show.h"

#include <inttypes.h>
#include <yyjson.h>

static void print_pools(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "POOL", .is_shrinking = true},
        {.title = "METHOD", .is_shrinking = true},
        {.title = "STATE"},
        {.title = "READY", .is_right = true},
        {.title = "SOLVING", .is_right = true},
        {.title = "SERVED", .is_right = true},
        {.title = "REFILLED", .is_right = true, .drop = 1},
        {.title = "EXPIRED", .is_right = true},
    };
    struct grid grid;
    yyjson_arr_iter iter;
    if (yyjson_arr_size(yyjson_obj_get(root, "pools")) == 0) {
        (void)fputs("no pools are configured\n", stderr);
        return;
    }
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "pools"), &iter);
    for (yyjson_val *pool; (pool = yyjson_arr_iter_next(&iter)) != NULL;) {
        grid_add(&grid, show_text(pool, "name"));
        grid_add(&grid, show_text(pool, "method"));
        grid_add(&grid, show_text(pool, "state"));
        grid_addf(&grid, "%" PRIu64 " of %" PRIu64, show_number(pool, "ready"),
                  show_number(pool, "size"));
        grid_add_number(&grid, show_number(pool, "solving"));
        grid_add_number(&grid, show_number(pool, "served"));
        grid_add_number(&grid, show_number(pool, "refilled"));
        grid_add_number(&grid, show_number(pool, "expired"));
    }
    grid_print(&grid);
    grid_close(&grid);
    const uint64_t total = show_number(root, "total");
    const size_t shown = yyjson_arr_size(yyjson_obj_get(root, "pools"));
    if (total > shown)
        (void)fprintf(stderr, "%zu of %" PRIu64 " shown\n", shown, total);
}

static const struct cli_flag flags[] = {REMOTE_FLAGS, {.name = NULL}};

static int run(struct cli_args *args)
{
    return remote_run_get(args, "/v1/pools", print_pools);
}

const struct command command_pools = {
    .name = "pools",
    .group = GROUP_WATCH,
    .summary = "Show how full the pools of pre-solved captchas are",
    .usage = "[FLAGS]",
    .details = "READY is how many solutions wait to be handed out, EXPIRED how many were paid for "
               "and never used: a pool with many of them is too large. Needs a key with scope "
               "admin.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .run = run,
};
