#include "cli/cli.h"
#include "cli/remote.h"
#include "proto/json_out.h"
#include "proto/nearest.h"

#include <string.h>
#include <sysexits.h>
#include <yyjson.h>

#define REPLY_MAX ((size_t)16 * 1024 * 1024)
#define PATH_MAX_BYTES 4096

enum verb { VERB_LIST, VERB_SHOW, VERB_REPLAY, VERB_DROP, VERB_COUNT };

static const char *const verb_names[VERB_COUNT] = {"list", "show", "replay", "drop"};

/* What was asked for. */
struct order {
    struct remote remote;
    enum verb verb;
    bool has_verb;
    bool is_all;
    const char *number;
    const char *filters[4]; /* in the order of filter_names */
};

static const char *const filter_names[4] = {"client", "class", "type", "error"};

static const struct cli_flag flags[] = {
    {0, "client", "NAME", "only letters of this client"},
    {0, "class", "CLASS", "only this class: busy, unsolvable, transient, account, timeout, ..."},
    {0, "type", "TYPE", "only this type of captcha: turnstile, image, ..."},
    {0, "error", "CODE", "only letters with this last error"},
    {0, "all", NULL, "replay or drop all of them"},
    REMOTE_FLAG_URL,
    REMOTE_FLAG_JSON,
    {0, NULL, NULL, NULL},
};

/* ---- arguments --------------------------------------------------------------------------- */

static bool take_verb(const struct command *command, struct order *order, const char *word)
{
    struct nearest nearest;
    nearest_init(&nearest, slice_from(word));
    for (int verb = 0; verb < VERB_COUNT; verb++) {
        if (strcmp(word, verb_names[verb]) == 0) {
            order->verb = (enum verb)verb;
            order->has_verb = true;
            return true;
        }
        nearest_offer(&nearest, slice_from(verb_names[verb]));
    }
    if (slice_is_given(nearest.best))
        cli_wrong(command, "unknown word \"%s\", did you mean \"%s\"?", word, nearest.best.data);
    else
        cli_wrong(command, "expected list, show, replay or drop, found \"%s\"", word);
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

static const char *text_of(yyjson_val *object, const char *name)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, name));
    return text == NULL ? "-" : text;
}

static void print_list(yyjson_val *root)
{
    yyjson_val *letters = yyjson_obj_get(root, "letters");
    size_t at;
    size_t count;
    yyjson_val *letter;
    if (yyjson_arr_size(letters) == 0) {
        (void)fputs("no dead letters\n", stderr);
        return;
    }
    (void)printf("%6s  %-24s  %-12s  %-13s  %-11s  %5s  %5s  %s\n", "ID", "CREATED", "CLIENT",
                 "TYPE", "CLASS", "TRIES", "TOLD", "ERROR");
    yyjson_arr_foreach(letters, at, count, letter)
    {
        (void)printf("%6s  %-24s  %-12s  %-13s  %-11s  %5llu  %5llu  %s%s\n", text_of(letter, "id"),
                     text_of(letter, "created"), text_of(letter, "client"), text_of(letter, "type"),
                     text_of(letter, "class"),
                     (unsigned long long)yyjson_get_uint(yyjson_obj_get(letter, "attempt_count")),
                     (unsigned long long)yyjson_get_uint(yyjson_obj_get(letter, "callers_told")),
                     text_of(letter, "error"),
                     yyjson_get_bool(yyjson_obj_get(letter, "replaying")) ? " (replaying)" : "");
    }
    const uint64_t total = yyjson_get_uint(yyjson_obj_get(root, "total"));
    if (total > yyjson_arr_size(letters))
        (void)fprintf(stderr, "%zu of %llu shown, newest first; narrow with a filter\n",
                      yyjson_arr_size(letters), (unsigned long long)total);
}

static void print_params(yyjson_val *params)
{
    size_t at;
    size_t count;
    yyjson_val *name;
    yyjson_val *value;
    yyjson_obj_foreach(params, at, count, name, value)
    {
        (void)printf("  %-14s %s\n", yyjson_get_str(name), yyjson_get_str(value));
    }
}

static void print_attempts(yyjson_val *attempts)
{
    size_t at;
    size_t count;
    yyjson_val *note;
    yyjson_arr_foreach(attempts, at, count, note)
    {
        (void)printf("  %s  %8.3f s  %-11s  %s\n", text_of(note, "at"),
                     yyjson_get_num(yyjson_obj_get(note, "took")), text_of(note, "class"),
                     text_of(note, "error"));
    }
}

static void print_letter(yyjson_val *root)
{
    static const char *const rows[] = {"id",    "client",  "type",    "class",
                                       "error", "created", "expires", "key"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        (void)printf("%-9s %s\n", rows[i], text_of(root, rows[i]));
    (void)printf("%-9s %llu\n", "told",
                 (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "callers_told")));
    (void)printf("%-9s %llu%s\n", "replays",
                 (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "replays")),
                 yyjson_get_bool(yyjson_obj_get(root, "replaying")) ? ", one under way" : "");
    (void)puts("parameters");
    print_params(yyjson_obj_get(root, "params"));
    (void)puts("attempts");
    print_attempts(yyjson_obj_get(root, "attempts"));
}

static void print_count(yyjson_val *root, const char *word)
{
    (void)printf("%s %llu\n", word,
                 (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, word)));
}

static int print_reply(const struct order *order, const struct buf *reply)
{
    if (order->remote.is_json) {
        (void)printf("%.*s\n", (int)reply->len, reply->data);
        return EX_OK;
    }
    yyjson_doc *doc = yyjson_read(reply->data, reply->len, 0);
    if (doc == NULL) {
        (void)fputs("solvegate letters: the gateway's reply is not JSON\n", stderr);
        return EX_PROTOCOL;
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    switch (order->verb) {
    case VERB_LIST:
        print_list(root);
        break;
    case VERB_SHOW:
        print_letter(root);
        break;
    case VERB_REPLAY:
        print_count(root, "queued");
        break;
    case VERB_DROP:
        print_count(root, "dropped");
        break;
    case VERB_COUNT:
        break;
    }
    yyjson_doc_free(doc);
    return EX_OK;
}

/* ---- calling ----------------------------------------------------------------------------- */

static const char *method_of(enum verb verb)
{
    static const char *const methods[VERB_COUNT] = {"GET", "GET", "POST", "DELETE"};
    return methods[verb];
}

/* The path with its query, and for a replay by filter the body. */
static void write_target(const struct order *order, struct buf *path, struct buf *body)
{
    buf_add(path, SLICE_OF("/v1/letters"));
    if (order->number != NULL) {
        buf_addf(path, "/%s", order->number);
        if (order->verb == VERB_REPLAY)
            buf_add(path, SLICE_OF("/replay"));
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

static int run(struct cli_args *args)
{
    struct order order;
    const enum cli_result result = read_args(args, &order);
    if (result != CLI_END)
        return cli_exit_code(result);
    struct buf path;
    struct buf body;
    struct buf reply;
    buf_init(&path, PATH_MAX_BYTES);
    buf_init(&body, PATH_MAX_BYTES);
    buf_init(&reply, REPLY_MAX);
    write_target(&order, &path, &body);
    int code = remote_call(args->command, &order.remote, method_of(order.verb), path.data,
                           order.verb == VERB_REPLAY && body.len > 0 ? body.data : NULL, &reply);
    if (code == EX_OK)
        code = print_reply(&order, &reply);
    buf_close(&path);
    buf_close(&body);
    buf_close(&reply);
    return code;
}

const struct command command_letters = {
    .name = "letters",
    .summary = "List, show, replay or drop dead letters of a running gateway",
    .usage = "list|show|replay|drop [ID] [FLAGS]",
    .details = "Dead letters are solves that ended badly. A replay solves them again, a few a "
               "second, with\n"
               "all counters reset; the result answers whoever waits for the same thing, or is "
               "kept.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .run = run,
};
