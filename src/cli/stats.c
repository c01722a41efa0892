#include "cli/books_table.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/remote.h"
#include "cli/remote_key.h"
#include "cli/shadow_table.h"
#include "cli/show.h"

#include <inttypes.h>
#include <sysexits.h>
#include <yyjson.h>

/* The counters that are shown, in this order; savings first. */
static const struct {
    const char *member; /* or one of the shares that are computed here */
    const char *label;
} rows[] = {
    {"saved_share", "saved"},
    {"money_saved", "money saved"},
    {"money_spent", "money spent"},
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
    yyjson_val *pages[BOOKS_PAGES_MAX];
    const size_t count = books_pages(root, span, pages);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += show_number(pages[i], name);
    return total;
}

static double sum_money(yyjson_val *root, enum span span, const char *name)
{
    yyjson_val *pages[BOOKS_PAGES_MAX];
    const size_t count = books_pages(root, span, pages);
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += show_real(pages[i], name);
    return total;
}

static void add_sum_share(struct grid *grid, yyjson_val *root, enum span span, const char *name,
                          const char *rest)
{
    const uint64_t part = sum(root, span, name);
    grid_add_share(grid, part, part + sum(root, span, rest));
}

static bool is_money(const char *member)
{
    return strncmp(member, "money_", 6) == 0;
}

static void add_value(struct grid *grid, yyjson_val *root, enum span span, const char *member)
{
    if (strcmp(member, "saved_share") == 0)
        add_sum_share(grid, root, span, "deduplicated", "answered_api");
    else if (strcmp(member, "hit_share") == 0)
        add_sum_share(grid, root, span, "cache_hits", "cache_misses");
    else if (is_money(member))
        grid_add_money(grid, sum_money(root, span, member));
    else
        grid_add_number(grid, sum(root, span, member));
}

/* ---- printing ---------------------------------------------------------------------------- */

static bool is_cluster(yyjson_val *root)
{
    return strcmp(show_text(root, "scope"), "cluster") == 0;
}

static void print_sums(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = ""},
        {.title = "TODAY", .is_right = true},
        {.title = "8 DAYS", .is_right = true},
        {.title = "SINCE START", .is_right = true},
    };
    /* A cluster has no start. */
    const int spans_shown = is_cluster(root) ? SPAN_START : SPAN_COUNT;
    struct grid grid;
    grid_init(&grid, columns, (size_t)spans_shown + 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (is_money(rows[i].member) && !books_have_money(root))
            continue;
        grid_add(&grid, rows[i].label);
        for (int span = 0; span < spans_shown; span++)
            add_value(&grid, root, (enum span)span, rows[i].member);
    }
    grid_print(&grid);
    grid_close(&grid);
}

static void add_day(struct grid *grid, yyjson_val *day, bool has_money)
{
    static const char *const members[] = {"deduplicated", "answered_api", "failed",
                                          "rejected",     "requests",     "letters"};
    const uint64_t saved = show_number(day, "deduplicated");
    grid_add(grid, show_text(day, "date"));
    grid_add_share(grid, saved, saved + show_number(day, "answered_api"));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        grid_add_number(grid, show_number(day, members[i]));
    if (has_money)
        grid_add_money(grid, show_real(day, "money_spent"));
}

static void print_days(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "DAY (UTC)"},
        {.title = "SAVED", .is_right = true},
        {.title = "FREE", .is_right = true},
        {.title = "PAID", .is_right = true},
        {.title = "FAILED", .is_right = true, .drop = 1},
        {.title = "REFUSED", .is_right = true, .drop = 2},
        {.title = "REQUESTS", .is_right = true},
        {.title = "LETTERS", .is_right = true, .drop = 3},
        {.title = "SPENT", .is_right = true},
    };
    const bool has_money = books_have_money(root);
    const size_t count = sizeof columns / sizeof columns[0];
    yyjson_val *pages[BOOKS_PAGES_MAX];
    struct grid grid;
    grid_init(&grid, columns, has_money ? count : count - 1);
    const size_t days = books_pages(root, SPAN_DAYS, pages);
    for (size_t i = 0; i < days; i++)
        add_day(&grid, pages[i], has_money);
    (void)fputc('\n', stdout);
    grid_print(&grid);
    grid_close(&grid);
}

/* Errors that are in no table; "other" counts the codes for which there was no room. */
static void print_unknown_errors(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "UNKNOWN ERROR, SINCE START", .is_shrinking = true},
        {.title = "TIMES", .is_right = true},
    };
    yyjson_val *const errors = yyjson_obj_get(yyjson_obj_get(root, "total"), "unknown_errors");
    struct grid grid;
    yyjson_obj_iter iter;
    if (yyjson_obj_size(errors) == 0)
        return;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_obj_iter_init(errors, &iter);
    for (yyjson_val *code; (code = yyjson_obj_iter_next(&iter)) != NULL;) {
        grid_add(&grid, yyjson_get_str(code));
        grid_add_number(&grid, yyjson_get_uint(yyjson_obj_iter_get_val(code)));
    }
    (void)fputc('\n', stdout);
    grid_print(&grid);
    grid_close(&grid);
}

static void print_now(yyjson_val *root)
{
    yyjson_val *const now = yyjson_obj_get(root, "now");
    struct buf out;
    buf_init(&out, 4096);
    buf_addf(&out, "\nnow: %" PRIu64 " flights", show_number(now, "flights"));
    buf_addf(&out, " (%" PRIu64 " queued), ", show_number(now, "queued"));
    buf_addf(&out, "%" PRIu64 " requests waiting, ", show_number(now, "waiting"));
    buf_addf(&out, "slots %" PRIu64 " of ", show_number(now, "slots_used"));
    buf_addf(&out, "%" PRIu64 ",\n     breaker ", show_number(now, "slots_limit"));
    show_add_clean(&out, show_text(now, "breaker"));
    if (show_has(now, "breaker_cause")) {
        buf_add(&out, SLICE_OF(" ("));
        show_add_clean(&out, show_text(now, "breaker_cause"));
        buf_add(&out, SLICE_OF(")"));
    }
    buf_addf(&out, ", %" PRIu64 " solutions in memory, ", show_number(now, "solutions"));
    buf_addf(&out, "%" PRIu64 " dead letters\n", show_number(now, "letters"));
    show_print(&out);
    buf_close(&out);
}

/* What each gateway counted itself; a request that another one went on with is in the books of both. */
static void print_nodes(yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "GATEWAY", .is_shrinking = true},
        {.title = "REQUESTS", .is_right = true},
        {.title = "OF OTHERS", .is_right = true, .drop = 1},
        {.title = "FREE", .is_right = true},
        {.title = "PAID", .is_right = true},
        {.title = "FAILED", .is_right = true, .drop = 2},
        {.title = ""},
    };
    static const char *const members[] = {"requests", "requests_adopted", "deduplicated",
                                          "answered_api", "failed"};
    struct grid grid;
    yyjson_arr_iter iter;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "nodes"), &iter);
    for (yyjson_val *node; (node = yyjson_arr_iter_next(&iter)) != NULL;) {
        grid_add(&grid, show_text(node, "name"));
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            grid_add_number(&grid, show_number(node, members[i]));
        grid_add(&grid, yyjson_is_true(yyjson_obj_get(node, "adopted")) ? "adopted" : "");
    }
    (void)fputc('\n', stdout);
    grid_print(&grid);
    grid_close(&grid);
    (void)printf("\nnow: %" PRIu64 " requests waiting\n",
                 show_number(yyjson_obj_get(root, "now"), "waiting"));
}

static void print_stats(yyjson_val *root, enum span span)
{
    print_sums(root);
    print_days(root);
    books_print(root, span);
    books_print_budgets(root);
    if (is_cluster(root)) {
        print_nodes(root);
        return;
    }
    print_unknown_errors(root);
    print_now(root);
}

static void print_today(yyjson_val *root)
{
    print_stats(root, SPAN_TODAY);
}

static void print_all_days(yyjson_val *root)
{
    print_stats(root, SPAN_DAYS);
}

static void print_since_start(yyjson_val *root)
{
    print_stats(root, SPAN_START);
}

static void print_shadow_of_today(yyjson_val *root)
{
    shadow_print(root, SPAN_TODAY);
}

static void print_shadow_of_days(yyjson_val *root)
{
    shadow_print(root, SPAN_DAYS);
}

static void print_shadow_since_start(yyjson_val *root)
{
    shadow_print(root, SPAN_START);
}

/* ---- arguments --------------------------------------------------------------------------- */

static const struct {
    const char *word;
    remote_print print, print_shadow;
} spans[SPAN_COUNT] = {
    [SPAN_TODAY] = {"today", print_today, print_shadow_of_today},
    [SPAN_DAYS] = {"days", print_all_days, print_shadow_of_days},
    [SPAN_START] = {"start", print_since_start, print_shadow_since_start},
};

static const struct cli_flag flags[] = {
    {.name = "span",
     .value_name = "SPAN",
     .words = "today days start",
     .help = "what the tables by client and type cover: today, days (today and the seven before; "
             "the default) or start (since the gateway started)"},
    {.name = "scope",
     .value_name = "SCOPE",
     .words = "node cluster",
     .help = "whose books: those of the gateway that answers (node; the default) or of all that "
             "share its store (cluster)"},
    {.name = "shadow",
     .help =
         "show what serving would have saved of what was paid for in shadow mode, the keys that "
         "repeat most, and the advice that reports give, by target"},
    REMOTE_FLAGS,
    {.name = NULL},
};

/* What is shown: which days, and whether of shadow mode. */
struct wanted {
    enum span span;
    bool is_shadow, is_cluster;
};

static enum cli_result take_flag(const struct command *command, const struct cli_arg *arg,
                                 struct wanted *wanted)
{
    if (strcmp(arg->flag->name, "shadow") == 0) {
        wanted->is_shadow = true;
        return CLI_ARG;
    }
    if (strcmp(arg->flag->name, "scope") == 0) {
        wanted->is_cluster = strcmp(arg->value, "cluster") == 0;
        return wanted->is_cluster || strcmp(arg->value, "node") == 0
                   ? CLI_ARG
                   : cli_wrong_word(command, "scope", arg->value, arg->flag->words);
    }
    for (size_t i = 0; i < SPAN_COUNT; i++) {
        if (strcmp(arg->value, spans[i].word) == 0) {
            wanted->span = (enum span)i;
            return CLI_ARG;
        }
    }
    return cli_wrong_word(command, "span", arg->value, arg->flag->words);
}

static enum cli_result read_args(struct cli_args *args, struct remote *remote,
                                 struct wanted *wanted)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return cli_wrong_argument(args->command, arg.value);
        if (!remote_take_flag(remote, &arg))
            result = take_flag(args->command, &arg, wanted);
        if (result != CLI_ARG)
            return result;
    }
    if (result == CLI_END && wanted->is_cluster &&
        (wanted->is_shadow || wanted->span == SPAN_START)) {
        cli_wrong(args->command, "--scope cluster goes with neither --shadow nor --span start: "
                                 "each gateway alone knows these");
        return CLI_WRONG;
    }
    return result;
}

static int run(struct cli_args *args)
{
    struct remote remote;
    struct wanted wanted = {.span = SPAN_DAYS};
    remote_init(&remote);
    int code;
    if (remote_open(args->command, &remote, read_args(args, &remote, &wanted), &code))
        code = remote_get(
            args->command, &remote, wanted.is_cluster ? "/v1/stats?scope=cluster" : "/v1/stats",
            wanted.is_shadow ? spans[wanted.span].print_shadow : spans[wanted.span].print);
    remote_close(&remote);
    return code;
}

const struct command command_stats = {
    .name = "stats",
    .group = GROUP_WATCH,
    .summary = "Show what was saved and what was paid, by day, client and type",
    .usage = "[--span SPAN] [--scope SCOPE] [--shadow] [FLAGS]",
    .details =
        "Days are those of UTC. \"Saved\" is the share of answers that needed no submit of their "
        "own. FREE and PAID count answers. SPENT and NOT SPENT are money, in the unit of "
        "upstream.price, and only shown where that is set; NOT SPENT is what free answers would "
        "have cost, except those from a pool, which were paid for earlier. In the tables by client "
        "and by type what cost most comes first. Errors of the vendor that no table knows are "
        "listed by their code, if there were any. With --scope cluster the books are those of all "
        "gateways that share the store, at most two seconds old, also of those that died; a "
        "request that another one went on with counts once. Budgets (budget_per_day) are those of "
        "today, in "
        "submits: used, reserved for requests that wait, left, and the limit; of several gateways "
        "on one store --scope cluster knows them best. With --shadow: what serving would have "
        "saved of "
        "what was paid for in shadow mode (see mode in `solvegate help config`), how, for whom and "
        "for which types; the keys that were paid for again and again; and, where callers report "
        "good and bad solutions, whether a target should have reuse shared or single. Needs a key "
        "with scope admin.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .run = run,
};
