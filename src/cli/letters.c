#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/remote.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "proto/json_out.h"

#include <inttypes.h>
#include <string.h>
#include <sysexits.h>
#include <yyjson.h>

#define BODY_MAX_BYTES 4096

enum verb { VERB_LIST, VERB_SHOW, VERB_REPLAY, VERB_DROP, VERB_COUNT };

static const char *const verb_names[VERB_COUNT] = {"list", "show", "replay", "drop"};

/* The parsed arguments. */
struct order {
    struct remote remote;
    enum verb verb;
    bool has_verb;
    bool is_all;
    const char *number;
    const char *into;
    const char *filters[4]; /* in the order of filter_names */
};

static const char *const filter_names[4] = {"client", "class", "type", "error"};

static const struct cli_flag flags[] = {
    {.name = "client", .value_name = "NAME", .help = "only letters of this client"},
    {.name = "class",
     .value_name = "CLASS",
     .words = "busy unsolvable transient ambiguous account caller proxy unknown timeout",
     .help = "only this class: busy, unsolvable, transient, account, timeout, ..."},
    {.name = "type",
     .value_name = "TYPE",
     .help = "only this type of captcha: turnstile, image, ..."},
    {.name = "error", .value_name = "CODE", .help = "only letters with this last error"},
    {.name = "all", .help = "replay or drop all of them"},
    {.name = "into", .value_name = "NAME", .help = "replay this one letter for another client"},
    REMOTE_FLAGS,
    {.name = NULL},
};

/* ---- arguments --------------------------------------------------------------------------- */

static bool take_verb(const struct command *command, struct order *order, const char *word)
{
    for (int verb = 0; verb < VERB_COUNT; verb++) {
        if (strcmp(word, verb_names[verb]) == 0) {
            order->verb = (enum verb)verb;
            order->has_verb = true;
            return true;
        }
    }
    (void)cli_wrong_word(command, "word", word, command->words);
    return false;
}

static bool take_number(const struct command *command, struct order *order, const char *word)
{
    unsigned long long number;
    if (order->number != NULL || !slice_to_u64(slice_from(word), &number) || number == 0) {
        cli_wrong(command, "expected one letter's number, found \"%s\"", word);
        return false;
    }
    order->number = word;
    return true;
}

static void take_filter(struct order *order, const struct cli_arg *arg)
{
    if (strcmp(arg->flag->name, "all") == 0)
        order->is_all = true;
    if (strcmp(arg->flag->name, "into") == 0)
        order->into = arg->value;
    for (size_t i = 0; i < 4; i++)
        if (strcmp(arg->flag->name, filter_names[i]) == 0)
            order->filters[i] = arg->value;
}

static bool has_filter(const struct order *order)
{
    for (size_t i = 0; i < 4; i++)
        if (order->filters[i] != NULL)
            return true;
    return false;
}

static bool is_sensible(const struct command *command, const struct order *order)
{
    const bool is_order = order->verb == VERB_REPLAY || order->verb == VERB_DROP;
    if (!order->has_verb)
        cli_wrong(command, "say what to do: list, show, replay or drop");
    else if (order->verb == VERB_SHOW && order->number == NULL)
        cli_wrong(command, "show needs the letter's number");
    else if (is_order && order->number == NULL && !order->is_all && !has_filter(order))
        cli_wrong(command, "%s needs a number, a filter or --all", verb_names[order->verb]);
    else if (order->into != NULL && (order->verb != VERB_REPLAY || order->number == NULL))
        cli_wrong(command, "--into needs the number of the letter to replay");
    else
        return true;
    return false;
}

static enum cli_result read_args(struct cli_args *args, struct order *order)
{
    struct cli_arg arg;
    enum cli_result result;
    *order = (struct order){.verb = VERB_LIST};
    remote_init(&order->remote);
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag != NULL) {
            if (!remote_take_flag(&order->remote, &arg))
                take_filter(order, &arg);
        } else if (!order->has_verb) {
            if (!take_verb(args->command, order, arg.value))
                return CLI_WRONG;
        } else if (!take_number(args->command, order, arg.value)) {
            return CLI_WRONG;
        }
    }
    if (result == CLI_END && !is_sensible(args->command, order))
        return CLI_WRONG;
    return result;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_list(yyjson_val *root)
{
    /* The first one only where several gateways share a store. */
    static const struct grid_column columns[] = {
        {.title = "NODE", .cut = 16},
        {.title = "ID", .is_right = true},
        {.title = "CREATED"},
        {.title = "CLIENT", .cut = 16},
        {.title = "TYPE"},
        {.title = "CLASS", .drop = 1},
        {.title = "TRIES", .is_right = true, .drop = 2},
        {.title = "TOLD", .is_right = true, .drop = 3},
        {.title = "ERROR", .is_shrinking = true},
    };
    yyjson_val *letters = yyjson_obj_get(root, "letters");
    struct grid grid;
    yyjson_arr_iter iter;
    if (yyjson_arr_size(letters) == 0) {
        (void)fputs("no dead letters\n", stderr);
        return;
    }
    const size_t skipped = show_has(yyjson_arr_get_first(letters), "node") ? 0 : 1;
    grid_init(&grid, columns + skipped, sizeof columns / sizeof columns[0] - skipped);
    (void)yyjson_arr_iter_init(letters, &iter);
    for (yyjson_val *letter; (letter = yyjson_arr_iter_next(&iter)) != NULL;) {
        if (skipped == 0)
            grid_add(&grid, show_text(letter, "node"));
        grid_add(&grid, show_text(letter, "id"));
        /* Without milliseconds, which only clutter the table. */
        grid_addf(&grid, "%.19sZ", show_text(letter, "created"));
        grid_add(&grid, show_text(letter, "client"));
        grid_add(&grid, show_text(letter, "type"));
        grid_add(&grid, show_text(letter, "class"));
        grid_add_number(&grid, show_number(letter, "attempt_count"));
        grid_add_number(&grid, show_number(letter, "callers_told"));
        grid_addf(&grid, "%s%s", show_text(letter, "error"),
                  show_flag(letter, "replaying") ? " (replaying)" : "");
    }
    grid_print(&grid);
    grid_close(&grid);
    const uint64_t total = show_number(root, "total");
    if (total > yyjson_arr_size(letters))
        (void)fprintf(stderr, "%zu of %" PRIu64 " shown, newest first; narrow with a filter\n",
                      yyjson_arr_size(letters), total);
}

static void add_params(struct buf *out, yyjson_val *params)
{
    yyjson_obj_iter iter;
    (void)yyjson_obj_iter_init(params, &iter);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter)) != NULL;) {
        const size_t start = out->len;
        buf_add(out, SLICE_OF("  "));
        show_add_clean(out, yyjson_get_str(name));
        buf_addf(out, "%*s", out->len - start < 17 ? (int)(17 - (out->len - start)) : 1, "");
        show_add_clean(out, yyjson_get_str(yyjson_obj_iter_get_val(name)));
        buf_add_char(out, '\n');
    }
}

static void add_attempts(struct buf *out, yyjson_val *attempts)
{
    yyjson_arr_iter iter;
    (void)yyjson_arr_iter_init(attempts, &iter);
    for (yyjson_val *note; (note = yyjson_arr_iter_next(&iter)) != NULL;) {
        buf_addf(out, "  %s  %8.3f s  %-11s  ", show_text(note, "at"), show_real(note, "took"),
                 show_text(note, "class"));
        show_add_clean(out, show_text(note, "error"));
        buf_add_char(out, '\n');
    }
}

static void print_letter(yyjson_val *root)
{
    static const char *const rows[] = {"id",    "kind",    "client",  "type", "class",
                                       "error", "created", "expires", "key"};
    struct buf out;
    buf_init(&out, REMOTE_REPLY_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_addf(&out, "%-9s ", rows[i]);
        show_add_clean(&out, show_text(root, rows[i]));
        buf_add_char(&out, '\n');
    }
    if (show_has(root, "node")) {
        buf_addf(&out, "%-9s ", "gateway");
        show_add_clean(&out, show_text(root, "node"));
        buf_add_char(&out, '\n');
    }
    buf_addf(&out, "%-9s %" PRIu64 "\n", "told", show_number(root, "callers_told"));
    buf_addf(&out, "%-9s %" PRIu64 "%s\n", "replays", show_number(root, "replays"),
             show_flag(root, "replaying") ? ", one under way" : "");
    if (show_has(root, "solution")) {
        buf_addf(&out, "%-9s ", "solution");
        show_add_clean(&out, show_text(root, "solution"));
        buf_add_char(&out, '\n');
    }
    buf_add(&out, SLICE_OF("parameters\n"));
    add_params(&out, yyjson_obj_get(root, "params"));
    buf_add(&out, SLICE_OF("attempts\n"));
    add_attempts(&out, yyjson_obj_get(root, "attempts"));
    show_print(&out);
    buf_close(&out);
}

static void print_count(yyjson_val *root, const char *word)
{
    (void)printf("%s %" PRIu64 "\n", word, show_number(root, word));
}

static void print_queued(yyjson_val *root)
{
    print_count(root, "queued");
}

static void print_dropped(yyjson_val *root)
{
    print_count(root, "dropped");
}

/* ---- calling ----------------------------------------------------------------------------- */

static const struct {
    const char *method;
    remote_print print;
} calls[VERB_COUNT] = {
    [VERB_LIST] = {"GET", print_list},
    [VERB_SHOW] = {"GET", print_letter},
    [VERB_REPLAY] = {"POST", print_queued},
    [VERB_DROP] = {"DELETE", print_dropped},
};

/* The path with its query, and for a replay by filter the body. */
static void write_target(const struct order *order, struct buf *path, struct buf *body)
{
    buf_add(path, SLICE_OF("/v1/letters"));
    if (order->number != NULL) {
        buf_addf(path, "/%s", order->number);
        if (order->verb == VERB_REPLAY)
            buf_add(path, SLICE_OF("/replay"));
        if (order->into != NULL)
            remote_add_query(path, "into", order->into);
        buf_add_char(path, '\0');
        return;
    }
    const bool is_in_body = order->verb == VERB_REPLAY;
    if (is_in_body)
        buf_add(path, SLICE_OF("/replay"));
    json_open(body, '{');
    for (size_t i = 0; i < 4; i++) {
        if (order->filters[i] == NULL)
            continue;
        if (is_in_body)
            json_string(body, filter_names[i], order->filters[i]);
        else
            remote_add_query(path, filter_names[i], order->filters[i]);
    }
    if (order->is_all && is_in_body)
        json_bool(body, "all", true);
    else if (order->is_all)
        remote_add_query(path, "all", "true");
    json_close(body, '}');
    buf_add_char(body, '\0');
    buf_add_char(path, '\0');
}

static int call(struct order *order, const struct command *command)
{
    struct buf path;
    struct buf body;
    struct buf reply;
    buf_init(&path, REMOTE_PATH_MAX);
    buf_init(&body, BODY_MAX_BYTES);
    buf_init(&reply, REMOTE_REPLY_MAX);
    write_target(order, &path, &body);
    int code = remote_call(command, &order->remote, calls[order->verb].method, path.data,
                           order->verb == VERB_REPLAY && body.len > 0 ? body.data : NULL, &reply);
    if (code == EX_OK)
        code = remote_show(command, &order->remote, &reply, calls[order->verb].print);
    buf_close(&path);
    buf_close(&body);
    buf_close(&reply);
    return code;
}

static int run(struct cli_args *args)
{
    struct order order;
    int code;
    if (remote_open(args->command, &order.remote, read_args(args, &order), &code))
        code = call(&order, args->command);
    remote_close(&order.remote);
    return code;
}

static const struct cli_example examples[] = {
    {"what died, newest first", "solvegate letters list"},
    {"one of them with its parameters and attempts", "solvegate letters show 17"},
    {"solve all again that died while the vendor was busy",
     "solvegate letters replay --class busy"},
    {"give one of a client that is no longer configured to another",
     "solvegate letters replay 17 --into shop"},
    {NULL, NULL},
};

const struct command command_letters = {
    .name = "letters",
    .group = GROUP_WATCH,
    .summary = "List, show, replay or drop dead letters",
    .usage = "list|show|replay|drop [ID] [FLAGS]",
    .words = "list show replay drop",
    .details =
        "Dead letters are solves that ended badly. A replay solves them again, a few a second, "
        "with all counters reset; the result answers whoever waits for the same thing, or is "
        "kept. What a client paid for that is no longer configured is a letter of kind orphan: "
        "--into "
        "names the client that gets it, for nothing while it is fresh. Needs a key with scope "
        "admin.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .examples = examples,
    .run = run,
};
