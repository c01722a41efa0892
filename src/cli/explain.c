#include "cli/ask_flags.h"
#include "cli/cli.h"
#include "cli/remote_key.h"
#include "cli/show.h"

#include <sysexits.h>
#include <yyjson.h>

#define BODY_MAX_BYTES ((size_t)24 * 1024 * 1024)
#define LABEL_COLUMNS 10

static const char *outlook(const char *would)
{
    static const struct {
        const char *word, *text;
    } texts[] = {
        {"hit", "hit: a fresh solution would be handed out, nothing is paid"},
        {"join", "join: a solve under way would answer it, nothing is paid"},
        {"submit", "submit: a new solve would be started and paid"},
        {"fail", "fail: its answer was paid for and cannot be handed out, a dead letter keeps it"},
        {"refuse", "refuse: the gateway would not take it"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].word, would) == 0)
            return texts[i].text;
    return would;
}

static void add_row(struct buf *out, const char *label, const char *text)
{
    buf_addf(out, "%-*s", LABEL_COLUMNS, label);
    show_add_clean(out, text);
    buf_add_char(out, '\n');
}

static void add_seconds(struct buf *out, yyjson_val *root, const char *name, const char *label)
{
    if (!show_has(root, name))
        return;
    buf_addf(out, "%-*s", LABEL_COLUMNS, label);
    show_add_seconds(out, show_real(root, name));
    buf_add_char(out, '\n');
}

/* Adds the fields that identify a request, aligned. */
static void add_counted(struct buf *out, yyjson_val *counted)
{
    yyjson_obj_iter iter;
    size_t widest = 0;
    (void)yyjson_obj_iter_init(counted, &iter);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter)) != NULL;)
        widest = yyjson_get_len(name) > widest ? yyjson_get_len(name) : widest;
    (void)yyjson_obj_iter_init(counted, &iter);
    const char *label = "counted";
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter)) != NULL; label = "") {
        const char *const value = yyjson_get_str(yyjson_obj_iter_get_val(name));
        buf_addf(out, "%-*s", LABEL_COLUMNS, label);
        show_add_clean(out, yyjson_get_str(name));
        buf_addf(out, "%*s", (int)(widest - yyjson_get_len(name) + 2), "");
        show_add_clean(out, value == NULL ? "-" : value);
        buf_add_char(out, '\n');
    }
}

static void add_ignored(struct buf *out, yyjson_val *ignored)
{
    yyjson_arr_iter iter;
    const char *before = "";
    if (yyjson_arr_size(ignored) == 0)
        return;
    buf_addf(out, "%-*s", LABEL_COLUMNS, "ignored");
    (void)yyjson_arr_iter_init(ignored, &iter);
    for (yyjson_val *name; (name = yyjson_arr_iter_next(&iter)) != NULL; before = ", ") {
        buf_add(out, slice_from(before));
        show_add_clean(out, yyjson_get_str(name) == NULL ? "-" : yyjson_get_str(name));
    }
    buf_add_char(out, '\n');
}

static void print_explanation(yyjson_val *root)
{
    struct buf out;
    buf_init(&out, REMOTE_REPLY_MAX);
    add_row(&out, "would", outlook(show_text(root, "would")));
    if (show_has(root, "why"))
        add_row(&out, "why", show_text(root, "why"));
    if (show_has(root, "source"))
        add_row(&out, "source", show_text(root, "source"));
    add_seconds(&out, root, "age", "age");
    add_seconds(&out, root, "expires_in", "good for");
    add_row(&out, "type", show_text(root, "type"));
    buf_addf(&out, "%-*s%s, %s\n", LABEL_COLUMNS, "reuse", show_text(root, "reuse"),
             show_flag(root, "cacheable") ? "kept for later requests" : "never kept");
    add_seconds(&out, root, "min_ttl", "min_ttl");
    add_seconds(&out, root, "max_age", "max_age");
    add_row(&out, "key", show_text(root, "key"));
    add_counted(&out, yyjson_obj_get(root, "counted"));
    add_ignored(&out, yyjson_obj_get(root, "ignored"));
    show_print(&out);
    buf_close(&out);
}

static int ask(struct remote *remote, const struct ask_order *order)
{
    struct buf body;
    struct buf reply;
    buf_init(&body, BODY_MAX_BYTES);
    buf_init(&reply, REMOTE_REPLY_MAX);
    int code = ask_write(&command_explain, order, &body);
    if (code == EX_OK)
        code = remote_call(&command_explain, remote, "POST", "/v1/explain", body.data, &reply);
    if (code == EX_OK)
        code = remote_show(&command_explain, remote, &reply, print_explanation);
    buf_close(&body);
    buf_close(&reply);
    return code;
}

static const struct cli_flag flags[] = {ASK_FLAGS, REMOTE_FLAGS, {.name = NULL}};

static enum cli_result read_args(struct cli_args *args, struct remote *remote,
                                 struct ask_order *order)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return cli_wrong_argument(args->command, arg.value);
        if (!remote_take_flag(remote, &arg))
            (void)ask_take_flag(args->command, order, &arg, &result);
        if (result != CLI_ARG)
            return result;
    }
    return result == CLI_END && !ask_is_sensible(args->command, order) ? CLI_WRONG : result;
}

static int run(struct cli_args *args)
{
    struct remote remote;
    struct ask_order order = {.count = 0};
    remote_init(&remote);
    int code;
    if (remote_open(args->command, &remote, read_args(args, &remote, &order), &code))
        code = ask(&remote, &order);
    remote_close(&remote);
    return code;
}

static const struct cli_example examples[] = {
    {"would this hit, join or be paid, and which fields count",
     "solvegate explain -m turnstile -s 0x4AAA -p https://example.com/login"},
    {NULL, NULL},
};

const struct command command_explain = {
    .name = "explain",
    .group = GROUP_ASK,
    .summary = "Tell what would happen to a request, and why two do (not) merge",
    .usage = "-m NAME [-s KEY] [-p URL] [--param NAME=VALUE]... [-i FILE] [FLAGS]",
    .details =
        "Takes what solve takes, asks nothing of the vendor and costs nothing. Two requests "
        "are the same when their keys are; the fields that made the key are listed.\n"
        "--idempotency-key is accepted as for solve and has no influence here.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .examples = examples,
    .run = run,
};
