/* solvegate store: prepares, inspects and copies journals. */
#include "cli/cli.h"
#include "cli/guard.h"
#include "cli/load.h"
#include "cli/show.h"
#include "config/config_store.h"
#include "proto/json_out.h"
#include "store/row_table.h"
#include "store/store_copy.h"
#include "store/store_offline.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#define REPORT_MAX (1 << 20)
#define NAME_MAX_BYTES 128

enum verb { VERB_INIT, VERB_CHECK, VERB_COPY, VERB_COUNT };

static const char *const verb_names[VERB_COUNT] = {"init", "check", "copy"};
static const size_t most_places[VERB_COUNT] = {1, 1, 2};

/* A store that an argument names: by its URL, or by a configuration file. */
struct named {
    struct config config; /* of the file */
    bool has_config;
    struct buf url;
    struct store_place place;
};

/* The parsed arguments. */
struct order {
    enum verb verb;
    bool has_verb;
    bool prints_sql, is_json;
    char *places[2];
    size_t count;
};

static const struct cli_flag flags[] = {
    LOAD_FLAG_CONFIG,
    {.name = "print-sql",
     .help = "init: print the statements for somebody else to run, and leave the server alone"},
    CLI_FLAG_JSON,
    {.name = NULL},
};

/* ---- arguments --------------------------------------------------------------------------- */

static bool take_verb(const struct command *command, struct order *order, const char *word)
{
    for (int verb = 0; verb < VERB_COUNT; verb++) {
        if (strcmp(word, verb_names[verb]) != 0)
            continue;
        order->verb = (enum verb)verb;
        order->has_verb = true;
        return true;
    }
    (void)cli_wrong_word(command, "word", word, command->words);
    return false;
}

static bool take_place(const struct command *command, struct order *order, char *text)
{
    if (order->count == most_places[order->verb]) {
        /* It is not repeated, since it may hold a password. */
        cli_wrong(command, "%s takes at most %zu stores", verb_names[order->verb], order->count);
        return false;
    }
    order->places[order->count++] = text;
    return true;
}

static bool is_sensible(const struct command *command, const struct order *order)
{
    if (!order->has_verb)
        cli_wrong(command, "say what to do: init, check or copy");
    else if (order->verb == VERB_COPY && order->count != 2)
        cli_wrong(command, "copy needs two stores: from which, and to which");
    else if (order->prints_sql && order->verb != VERB_INIT)
        cli_wrong(command, "--print-sql belongs to init");
    else
        return true;
    return false;
}

static enum cli_result read_args(struct cli_args *args, struct order *order)
{
    struct cli_arg arg;
    enum cli_result result;
    *order = (struct order){.verb = VERB_INIT};
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        bool is_good = true;
        if (arg.flag == NULL && !order->has_verb)
            is_good = take_verb(args->command, order, arg.value);
        else if (arg.flag == NULL || cli_is_flag(&arg, "config"))
            is_good = take_place(args->command, order, arg.value);
        else if (cli_is_flag(&arg, "json"))
            order->is_json = true;
        else
            order->prints_sql = true;
        if (!is_good)
            return CLI_WRONG;
    }
    if (result == CLI_END && !is_sensible(args->command, order))
        return CLI_WRONG;
    return result;
}

/* ---- places ------------------------------------------------------------------------------ */

/* Replaces every ${NAME} by that variable, so that passwords need not be arguments. */
static bool expand(const char *text, struct buf *out)
{
    while (*text != '\0') {
        const char *const end = strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;
        if (end == NULL) {
            buf_add_char(out, *text++);
            continue;
        }
        char name[NAME_MAX_BYTES];
        (void)snprintf(name, sizeof name, "%.*s", (int)(end - text - 2), text + 2);
        const char *const value = getenv(name);
        if (value == NULL) {
            (void)fprintf(stderr, "solvegate store: the environment variable %s is not set\n",
                          name);
            return false;
        }
        buf_add(out, slice_from(value));
        text = end + 1;
    }
    return true;
}

/* A URL brings no configuration with it, so what else there is to say stands in the environment, as for a gateway. */
static bool take_environment(struct named *named)
{
    char prefix[CONFIG_TEXT_MAX];
    const char *const given = getenv("SOLVEGATE_STORE_PREFIX");
    const char *const allow_async = getenv("SOLVEGATE_CLUSTER_ALLOW_ASYNC");
    named->place = (struct store_place){
        .url = named->url.data,
        .prefix = given == NULL ? "solvegate" : given,
        .ca_file = getenv("SOLVEGATE_STORE_CA_FILE"),
        .allow_async = allow_async != NULL && strcmp(allow_async, "true") == 0,
    };
    if (value_parse_prefix(slice_from(named->place.prefix), prefix))
        return true;
    (void)fprintf(stderr,
                  "solvegate store: SOLVEGATE_STORE_PREFIX must be 1 to %d letters, digits and "
                  "underscores\n",
                  STORE_PREFIX_MAX);
    return false;
}

static int name_by_url(struct named *named, char *text)
{
    char url[CONFIG_TEXT_MAX];
    const bool is_expanded = expand(text, &named->url);
    /* Hides a password from listings of processes from now on. */
    sodium_memzero(text, strlen(text));
    if (!is_expanded)
        return EX_CONFIG;
    if (named->url.len >= CONFIG_TEXT_MAX) {
        (void)fprintf(stderr, "solvegate store: the store's URL has more than %d bytes\n",
                      CONFIG_TEXT_MAX - 1);
        return EX_CONFIG;
    }
    if (!value_parse_store(buf_slice(&named->url), url)) {
        (void)fputs("solvegate store: the store's URL has invisible characters\n", stderr);
        return EX_DATAERR;
    }
    sodium_memzero(url, sizeof url);
    buf_add_char(&named->url, '\0');
    return take_environment(named) ? EX_OK : EX_CONFIG;
}

static int name_by_file(struct named *named, const char *file)
{
    const int code = load_config(&named->config, file, NULL, 0);
    named->has_config = true;
    if (code != EX_OK)
        return code;
    if (config_place(&named->config, &named->url, &named->place))
        return EX_OK;
    (void)fprintf(stderr, "solvegate store: %s names neither store nor data_dir\n",
                  file == NULL ? "the environment" : load_file_name(file));
    return EX_CONFIG;
}

/* A colon makes it a URL; a file's name may have one behind a slash. NULL: the environment alone. */
static int name_place(struct named *named, char *text)
{
    buf_init(&named->url, CONFIG_TEXT_MAX + 16);
    const bool is_url = text != NULL && text[strcspn(text, ":/")] == ':';
    if (!is_url && text != NULL && strchr(text, '@') != NULL && access(text, F_OK) != 0) {
        /* It is not repeated: most likely it is a URL with a password and a mistake. */
        (void)fputs("solvegate store: there is no such file, nor is it a URL as redis://HOST\n",
                    stderr);
        return EX_NOINPUT;
    }
    return is_url ? name_by_url(named, text) : name_by_file(named, text);
}

static void forget(struct named *named)
{
    if (named->url.data != NULL)
        sodium_memzero(named->url.data, named->url.room);
    buf_close(&named->url);
    if (named->has_config)
        config_close(&named->config);
}

/* ---- verbs ------------------------------------------------------------------------------- */

static int exit_code(enum store_opening opening)
{
    if (opening == STORE_OPENED)
        return EX_OK;
    return opening == STORE_LOCKED ? EX_CANTCREAT : EX_IOERR;
}

/* {"ok":true,"report":[lines]}, with a mistake if it is not ok */
static int tell_programs(enum store_opening opening, const struct buf *report,
                         const struct buf *mistake)
{
    struct buf out;
    buf_init(&out, 2 * REPORT_MAX);
    json_open(&out, '{');
    json_bool(&out, "ok", opening == STORE_OPENED);
    show_add_lines(&out, "report", buf_slice(report));
    if (opening != STORE_OPENED)
        json_text(&out, "mistake", buf_slice(mistake));
    json_close(&out, '}');
    (void)printf("%.*s\n", (int)out.len, out.data);
    buf_close(&out);
    return exit_code(opening);
}

static int tell(enum store_opening opening, const struct buf *report, const struct buf *mistake)
{
    (void)fwrite(buf_slice(report).data, 1, report->len, stdout);
    (void)fflush(stdout);
    if (opening != STORE_OPENED)
        (void)fprintf(stderr, "solvegate store: %.*s\n", (int)mistake->len,
                      buf_slice(mistake).data);
    return exit_code(opening);
}

static void report_copied(const struct store_copied *copied, struct buf *report)
{
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (copied->rows[kind] > 0)
            buf_addf(report, "%s: %" PRIu64 " rows\n", row_tables[kind].name, copied->rows[kind]);
    if (copied->skipped > 0)
        buf_addf(report, "left out, since nobody can read them: %" PRIu64 " rows\n",
                 copied->skipped);
    buf_addf(report, "secrets: %u\nboth stores give back the same\n", copied->secrets);
}

static enum store_opening copy(const struct named *named, struct buf *report, struct buf *mistake)
{
    struct store_copied copied;
    const enum store_opening opening =
        store_copy(&named[0].place, &named[1].place, &copied, mistake);
    if (opening == STORE_OPENED)
        report_copied(&copied, report);
    return opening;
}

static enum store_opening perform(const struct order *order, const struct named *named,
                                  struct buf *report, struct buf *mistake)
{
    const struct store_place *const place = &named[0].place;
    if (order->verb == VERB_COPY)
        return copy(named, report, mistake);
    if (order->verb == VERB_CHECK)
        return store_inspect(place, report, mistake);
    return (order->prints_sql ? store_print_schema : store_init)(place, report, mistake);
}

static int obey(struct order *order)
{
    struct named named[2] = {{.has_config = false}};
    struct buf report, mistake;
    enum store_opening opening = STORE_UNUSABLE;
    buf_init(&report, REPORT_MAX);
    buf_init(&mistake, REPORT_MAX);
    int code = name_place(&named[0], order->places[0]);
    if (code == EX_OK && order->count == 2)
        code = name_place(&named[1], order->places[1]);
    if (code == EX_OK)
        opening = perform(order, named, &report, &mistake);
    if (code == EX_OK)
        code = (order->is_json ? tell_programs : tell)(opening, &report, &mistake);
    forget(&named[0]);
    forget(&named[1]);
    buf_close(&report);
    buf_close(&mistake);
    return code;
}

static int run(struct cli_args *args)
{
    struct order order;
    guard_secrets();
    const enum cli_result result = read_args(args, &order);
    return result == CLI_END ? obey(&order) : cli_exit_code(result);
}

static const struct cli_example examples[] = {
    {"what is there, and whether it fits this program", "solvegate store check -c config.json"},
    {"the statements for an administrator who grants rights by hand",
     "solvegate store init --print-sql 'postgresql://gate@db.internal/gate'"},
    {"from a directory to a server, while no gateway runs",
     "solvegate store copy sqlite:/var/lib/solvegate 'postgresql://gate:${PASSWORD}@db/gate'"},
    {NULL, NULL},
};

const struct command command_store = {
    .name = "store",
    .group = GROUP_RUN,
    .summary = "Prepare, check or copy the journal's database",
    .usage = "init|check [STORE], store copy FROM TO",
    .words = "init check copy",
    .details =
        "A store is named by its URL, or by a configuration file with store or data_dir; without "
        "either by the environment. ${NAME} in a URL is replaced by that environment variable, "
        "since everybody on the machine can see arguments; SOLVEGATE_STORE_PREFIX, "
        "SOLVEGATE_STORE_CA_FILE and SOLVEGATE_CLUSTER_ALLOW_ASYNC go with it.\n"
        "init makes what a gateway would make at its first start. check says what is there and "
        "whether it fits, and changes nothing. copy moves a journal to an empty store while no "
        "gateway runs (exit code 73 if one does, or if the second store has a journal), with its "
        "secrets, and compares both.\n",
    .flags = flags,
    .examples = examples,
    .run = run,
};
