#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/remote.h"
#include "cli/view.h"

#include <inttypes.h>
#include <yyjson.h>

/* Today, the last days together, and everything since the gateway started. */
enum span { SPAN_TODAY, SPAN_WEEK, SPAN_TOTAL, SPAN_COUNT };

/* What is shown of a counter, in this order; savings first. */
static const struct {
    const char *member; /* or one of the shares that are computed here */
    const char *label;
} rows[] = {
    {"saved_share", "saved"},
    {"deduplicated", "answers that cost nothing"},
    {"answered_dedup_wait", "  joined a solve under way"},
    {"answered_dedup_cache", "  from memory"},
    {"answered_idempotent", "  by idempotency key"},
    {"answered_pool", "  from a pool"},
    {"answered_api", "answers that were paid for"},
    {"failed", "failed"},
    {"rejected", "refused at the door"},
    {"detached", "callers that left"},
    {"requests", "requests"},
    {"submits_accepted", "submits paid for"},
    {"submits_rejected", "submits the vendor refused"},
    {"submits_ambiguous", "submits with a lost reply"},
    {"retries", "retries"},
    {"callbacks_ok", "callbacks"},
    {"polls", "polls"},
    {"letters", "dead letters"},
    {"hit_share", "found in memory"},
};

/* ---- sums -------------------------------------------------------------------------------- */

static uint64_t sum(yyjson_val *root, enum span span, const char *name)
{
    yyjson_val *const today = yyjson_obj_get(root, "today");
    yyjson_arr_iter iter;
    if (span == SPAN_TOTAL)
        return view_number(yyjson_obj_get(root, "total"), name);
    uint64_t total = view_number(today, name);
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "days"), &iter);
    for (yyjson_val *day; span == SPAN_WEEK && (day = yyjson_arr_iter_next(&iter)) != NULL;)
        total += view_number(day, name);
    return total;
}

static void add_share(struct grid *grid, uint64_t part, uint64_t rest)
{
    if (part + rest == 0)
        grid_add(grid, "-");
    else
        grid_addf(grid, "%.1f %%", 100.0 * (double)part / (double)(part + rest));
}

static void add_value(struct grid *grid, yyjson_val *root, enum span span, const char *member)
{
    if (strcmp(member, "saved_share") == 0)
        add_share(grid, sum(root, span, "deduplicated"), sum(root, span, "answered_api"));
    else if (strcmp(member, "hit_share") == 0)
        add_share(grid, sum(root, span, "cache_hits"), sum(root, span, "cache_misses"));
    else
        grid_add_number(grid, sum(root, span, member));
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_sums(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = ""},
        {.title = "TODAY", .is_right = true},
        {.title = "8 DAYS", .is_right = true},
        {.title = "SINCE START", .is_right = true},
    };
    struct grid grid;
    grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        grid_add(&grid, rows[i].label);
        for (int span = 0; span < SPAN_COUNT; span++)
            add_value(&grid, root, (enum span)span, rows[i].member);
    }
    grid_print(&grid);
    grid_close(&grid);
}

static void add_day(struct grid *grid, yyjson_val *day)
{
    static const char *const members[] = {"deduplicated", "answered_api", "failed",
                                          "rejected",     "requests",     "letters"};
    grid_add(grid, view_text(day, "date"));
    add_share(grid, view_number(day, "deduplicated"), view_number(day, "answered_api"));
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        grid_add_number(grid, view_number(day, members[i]));
}

static void print_days(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "DAY (UTC)"},
        {.title = "SAVED", .is_right = true},
        {.title = "FREE", .is_right = true},
        {.title = "PAID", .is_right = true},
        {.title = "FAILED", .is_right = true},
        {.title = "REFUSED", .is_right = true},
        {.title = "REQUESTS", .is_right = true},
        {.title = "LETTERS", .is_right = true},
    };
    struct grid grid;
    yyjson_arr_iter iter;
    grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    add_day(&grid, yyjson_obj_get(root, "today"));
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "days"), &iter);
    for (yyjson_val *day; (day = yyjson_arr_iter_next(&iter)) != NULL;)
        add_day(&grid, day);
    (void)fputc('\n', stdout);
    grid_print(&grid);
    grid_close(&grid);
}

static void print_now(yyjson_val *root)
{
    yyjson_val *const now = yyjson_obj_get(root, "now");
    struct buf out;
    buf_init(&out, 4096);
    buf_addf(&out, "\nnow: %" PRIu64 " flights", view_number(now, "flights"));
    buf_addf(&out, " (%" PRIu64 " queued), ", view_number(now, "queued"));
    buf_addf(&out, "%" PRIu64 " requests waiting, ", view_number(now, "waiting"));
    buf_addf(&out, "slots %" PRIu64 " of ", view_number(now, "slots_used"));
    buf_addf(&out, "%" PRIu64 ",\n     breaker ", view_number(now, "slots_limit"));
    view_add_clean(&out, view_text(now, "breaker"));
    if (view_has(now, "breaker_cause")) {
        buf_add(&out, SLICE_OF(" ("));
        view_add_clean(&out, view_text(now, "breaker_cause"));
        buf_add(&out, SLICE_OF(")"));
    }
    buf_addf(&out, ", %" PRIu64 " solutions in memory, ", view_number(now, "solutions"));
    buf_addf(&out, "%" PRIu64 " dead letters\n", view_number(now, "letters"));
    view_print(&out);
    buf_close(&out);
}

static void print_stats(yyjson_val *root)
{
    print_sums(root);
    print_days(root);
    print_now(root);
}

static const struct cli_flag flags[] = {REMOTE_FLAGS, {.name = NULL}};

static int run(struct cli_args *args)
{
    return remote_run(args, "/v1/stats", print_stats);
}

const struct command command_stats = {
    .name = "stats",
    .group = GROUP_WATCH,
    .summary = "Show what was saved and what was paid, today and day by day",
    .usage = "[FLAGS]",
    .details = "Days are those of UTC. \"Saved\" is the share of answers that needed no submit of "
               "their own. Needs a key with scope admin.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .run = run,
};
