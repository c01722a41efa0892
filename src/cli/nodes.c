#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/remote.h"
#include "cli/show.h"

#include <inttypes.h>
#include <string.h>
#include <yyjson.h>

static bool is_true(yyjson_val *object, const char *name)
{
    return yyjson_is_true(yyjson_obj_get(object, name));
}

/* Without separators, as in the log, where somebody may look for it. */
static void add_id(struct grid *grid, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    grid_add(grid, text);
}

static void add_node(struct grid *grid, yyjson_val *node)
{
    grid_add(grid, is_true(node, "self") ? "*" : "");
    grid_add(grid, show_text(node, "name"));
    grid_add(grid, show_text(node, "state"));
    grid_add_seconds(grid, show_real(node, "silent_for"));
    grid_add_seconds(grid, show_real(node, "lease_left"));
    grid_add_number(grid, show_number(node, "demand"));
    grid_add_number(grid, show_number(node, "share"));
    add_id(grid, show_number(node, "number"));
}

static void remark_differing(yyjson_val *node)
{
    struct buf line;
    yyjson_val *const parts = yyjson_obj_get(node, "config_differs");
    yyjson_arr_iter iter;
    if (yyjson_arr_size(parts) == 0)
        return;
    buf_init(&line, 4096);
    show_add_clean(&line, show_text(node, "name"));
    buf_add(&line, SLICE_OF(" has another configuration than *:"));
    (void)yyjson_arr_iter_init(parts, &iter);
    for (yyjson_val *part; (part = yyjson_arr_iter_next(&iter)) != NULL;) {
        buf_add_char(&line, ' ');
        show_add_clean(&line, yyjson_is_str(part) ? yyjson_get_str(part) : "?");
    }
    (void)fprintf(stderr, "%.*s\n", (int)line.len, line.data);
    buf_close(&line);
}

/* As the table names it. */
static const char *name_adopter(yyjson_val *root, const char *by)
{
    yyjson_arr_iter iter;
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "nodes"), &iter);
    for (yyjson_val *node; (node = yyjson_arr_iter_next(&iter)) != NULL;)
        if (is_true(node, "self") && strcmp(show_text(node, "name"), by) == 0)
            return "*";
    return by;
}

static void remark_adoption(yyjson_val *root, yyjson_val *last)
{
    struct buf line;
    buf_init(&line, 4096);
    const uint64_t rows = show_number(last, "rows");
    show_add_clean(&line, name_adopter(root, show_text(last, "by")));
    buf_addf(&line, " went on with %" PRIu64 " row%s of ", rows, rows == 1 ? "" : "s");
    show_add_clean(&line, show_text(last, "name"));
    buf_add(&line, SLICE_OF(" at "));
    show_add_clean(&line, show_text(last, "at"));
    (void)fprintf(stderr, "%.*s\n", (int)line.len, line.data);
    buf_close(&line);
}

/* Remarks go to stderr, so that whoever reads the table by program is not disturbed. */
static void remark(yyjson_val *root)
{
    yyjson_arr_iter iter;
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "adopted"), &iter);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter)) != NULL;)
        remark_adoption(root, one);
    if (!is_true(root, "joined"))
        (void)fputs("the gateway that answered has not joined yet: the store has not confirmed "
                    "that it lives\n",
                    stderr);
    else if (!is_true(root, "leased"))
        (void)fputs("the gateway that answered (*) has lost its lease: it submits nothing until "
                    "the store confirms again that it lives\n",
                    stderr);
}

static void print_nodes(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = ""},
        {.title = "NODE", .is_shrinking = true},
        {.title = "STATE"},
        {.title = "SILENT", .is_right = true},
        {.title = "LEASE", .is_right = true},
        {.title = "DEMAND", .is_right = true},
        {.title = "SHARE", .is_right = true},
        {.title = "NUMBER", .is_right = true, .drop = 1},
    };
    struct grid grid;
    yyjson_arr_iter iter;
    if (!is_true(root, "enabled")) {
        (void)fputs("this gateway shares its store with no other (cluster.enabled is off)\n",
                    stderr);
        return;
    }
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "nodes"), &iter);
    for (yyjson_val *node; (node = yyjson_arr_iter_next(&iter)) != NULL;)
        add_node(&grid, node);
    grid_print(&grid);
    grid_close(&grid);
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "nodes"), &iter);
    for (yyjson_val *node; (node = yyjson_arr_iter_next(&iter)) != NULL;)
        remark_differing(node);
    remark(root);
}

static const struct cli_flag flags[] = {REMOTE_FLAGS, {.name = NULL}};

static int run(struct cli_args *args)
{
    return remote_run_get(args, "/v1/nodes", print_nodes);
}

const struct command command_nodes = {
    .name = "nodes",
    .group = GROUP_WATCH,
    .summary = "Show the gateways that share the store",
    .usage = "[FLAGS]",
    .details =
        "The gateway that answered has a *, and the rest is as it sees it. SILENT is how long "
        "ago a node last said that it lives, LEASE what remains until it is taken for dead, "
        "DEMAND the slots that it uses or waits for, SHARE the slots of the plan that are "
        "its own. What is not the same in the configurations of two is named below. Needs a key "
        "with scope admin.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .run = run,
};
