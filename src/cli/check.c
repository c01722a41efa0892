#include "cli/cli.h"
#include "cli/load.h"
#include "cli/remote.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "config/config_reference.h"
#include "config/config_store.h"
#include "proto/json_out.h"
#include "sys/files.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define JSON_MAX_BYTES (2 << 20)
#define WARNINGS_MAX_BYTES 8192

static void print_upstream(const struct config *config)
{
    (void)printf("upstream  %s, ", config->upstream.url);
    if (config->engine.slots_are_auto)
        (void)printf("as many slots as the vendor says");
    else
        (void)printf("%" PRIu32 " slots", config->engine.slots);
    (void)printf(", at most %" PRIu32 " connections\n", config->upstream.connections);
}

static void print_clients(const struct config *config)
{
    if (config->client_count == 0)
        (void)puts("clients   none: any key is accepted");
    for (size_t i = 0; i < config->client_count; i++) {
        const struct config_client *const client = &config->clients[i];
        (void)printf("%s%s: %s%s%s, weight %" PRIu32 ", ", i == 0 ? "clients   " : "          ",
                     client->name, (client->scopes & SCOPE_SOLVE) != 0 ? "solve" : "",
                     client->scopes == (SCOPE_SOLVE | SCOPE_ADMIN) ? " and " : "",
                     (client->scopes & SCOPE_ADMIN) != 0 ? "admin" : "", client->options.weight);
        if (client->allow_host_count == 0)
            (void)printf("every host");
        else
            (void)printf("%zu hosts", client->allow_host_count);
        if (client->options.budget_per_day != UINT64_MAX)
            (void)printf(", %" PRIu64 " submits a day", client->options.budget_per_day);
        (void)puts("");
    }
}

/* The folder that a path is in, which must be there. */
static void warn_of_parent(const char *option, const char *path, struct buf *out)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    char *const parent = len == 0 ? NULL : strndup(path, len);
    if (parent != NULL && file_folder(parent) != FILE_FOLDER_FINE)
        buf_addf(out, "%s: there is no folder %s, so the gateway would not start now\n", option,
                 parent);
    free(parent);
}

/* What is on the disk may change before the gateway starts: a service manager makes folders. */
static void warn_of_paths(const struct config *config, struct buf *out)
{
    for (size_t i = 0; i < config->listen_count; i++)
        if (strncmp(config->listen[i], "unix:", 5) == 0)
            warn_of_parent("listen", config->listen[i] + 5, out);
    if (config->data_dir == NULL)
        return;
    switch (file_folder(config->data_dir)) {
    case FILE_FOLDER_FINE:
        break;
    case FILE_FOLDER_MISSING:
        warn_of_parent("data_dir", config->data_dir, out);
        break;
    case FILE_FOLDER_OTHER:
        buf_addf(out, "data_dir: %s is no folder, so the gateway would not start now\n",
                 config->data_dir);
        break;
    }
}

/* Writes one line for each thing that is no mistake but should be changed. */
static void write_warnings(const struct config *config, struct buf *out)
{
    const char *const about_store = config_store_warning(config);
    if (about_store != NULL)
        buf_addf(out, "%s\n", about_store);
    warn_of_paths(config, out);
    if (config->data_dir != NULL && file_folder(config->data_dir) == FILE_FOLDER_FINE &&
        file_is_open_to_others(config->data_dir))
        buf_addf(out,
                 "data_dir: others can put files into %s or remove ours; chmod 700 ends that\n",
                 config->data_dir);
}

static void print_warnings(const struct config *config)
{
    struct buf lines;
    buf_init(&lines, WARNINGS_MAX_BYTES);
    write_warnings(config, &lines);
    struct slice rest = buf_slice(&lines);
    while (rest.len > 0) {
        const struct slice line = slice_take(&rest, '\n');
        (void)printf("warning   %.*s\n", (int)line.len, line.data);
    }
    buf_close(&lines);
}

/* The URL of a store may hold a password, so only its scheme is shown. */
static void print_journal(const struct config *config)
{
    if (config->store.url != NULL)
        (void)printf("journal   %.*s, prefix %s; `solvegate store check` asks the server\n",
                     (int)strcspn(config->store.url, ":"), config->store.url, config->store.prefix);
    else if (config->data_dir != NULL)
        (void)printf("journal   %s\n", config->data_dir);
    else
        (void)puts("journal   none: everything is kept in memory only");
}

static void print_summary(const struct config *config)
{
    for (size_t i = 0; i < config->listen_count; i++)
        (void)printf("%s%s\n", i == 0 ? "listen    " : "          ", config->listen[i]);
    print_upstream(config);
    print_clients(config);
    (void)printf("sharing   %s\n",
                 config->engine.clients_share ? "between all clients" : "within each client");
    if (config->pool_count > 0)
        (void)printf("pools     %zu\n", config->pool_count);
    print_journal(config);
}

static int check(const char *file)
{
    struct config config;
    const int code = load_config(&config, file, NULL, 0);
    if (code == EX_OK) {
        (void)printf("%s: ok\n", file == NULL ? "environment and defaults" : load_file_name(file));
        print_summary(&config);
        print_warnings(&config);
    }
    config_close(&config);
    return code;
}

static int check_for_programs(const char *file)
{
    struct config config;
    struct buf mistakes;
    struct buf warnings;
    struct buf out;
    const int code = load_config_quietly(&config, file, NULL, 0, &mistakes);
    buf_init(&warnings, WARNINGS_MAX_BYTES);
    if (code == EX_OK)
        write_warnings(&config, &warnings);
    buf_init(&out, JSON_MAX_BYTES);
    json_open(&out, '{');
    json_bool(&out, "ok", code == EX_OK);
    if (file != NULL)
        json_string(&out, "file", load_file_name(file));
    show_add_lines(&out, "mistakes", buf_slice(&mistakes));
    show_add_lines(&out, "warnings", buf_slice(&warnings));
    json_close(&out, '}');
    (void)printf("%.*s\n", (int)out.len, out.data);
    buf_close(&out);
    buf_close(&warnings);
    buf_close(&mistakes);
    config_close(&config);
    return code;
}

/* A gateway that is asked this often has to answer at once. */
#define READY_TIMEOUT_S 5

/* Asks a running gateway, for the health checks of containers, whose images have no other program to ask with. */
static int check_ready(const struct command *command, const char *url, bool is_json)
{
    const struct remote_request request = {
        .method = "GET", .path = "/readyz", .timeout_s = READY_TIMEOUT_S};
    struct remote remote;
    struct remote_reply reply;
    remote_init(&remote);
    if (url != NULL)
        remote.url = url;
    remote_reply_init(&reply);
    const enum remote_end end = remote_send(&remote, &request, &reply);
    int code = EX_UNAVAILABLE;
    if (end == REMOTE_ANSWERED) {
        struct slice body = buf_slice(&reply.body);
        const struct slice said = slice_take(&body, '\n');
        code = reply.status == 200 ? EX_OK : EX_UNAVAILABLE;
        if (is_json)
            (void)printf("{\"ready\":%s}\n", code == EX_OK ? "true" : "false");
        else
            (void)fprintf(code == EX_OK ? stdout : stderr, "%.*s\n", (int)said.len, said.data);
    } else {
        code = remote_tell(command, &remote, end, &reply);
    }
    buf_close(&reply.body);
    remote_close(&remote);
    return code;
}

static const struct cli_flag flags[] = {
    LOAD_FLAG_CONFIG,
    {.name = "reference", .help = "list every option with its default and leave"},
    {.name = "ready", .help = "ask a running gateway whether it is ready (exit code 0 or 69)"},
    {.letter = 'u',
     .name = "url",
     .value_name = "URL",
     .help = "with --ready: the gateway, as http://HOST:PORT or unix:PATH (SOLVEGATE_URL, else "
             "http://127.0.0.1:8430)"},
    CLI_FLAG_JSON,
    {.name = NULL},
};

struct check_args {
    const char *file;
    const char *url;
    bool wants_reference;
    bool wants_ready;
    bool is_json;
};

static enum cli_result take_args(struct cli_args *args, struct check_args *taken)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL) {
            cli_wrong(args->command, "unexpected argument \"%s\" (a file is given with -c)",
                      arg.value);
            return CLI_WRONG;
        }
        if (cli_is_flag(&arg, "config"))
            taken->file = arg.value;
        else if (cli_is_flag(&arg, "url"))
            taken->url = arg.value;
        else if (cli_is_flag(&arg, "json"))
            taken->is_json = true;
        else if (cli_is_flag(&arg, "ready"))
            taken->wants_ready = true;
        else
            taken->wants_reference = true;
    }
    return result;
}

static int run(struct cli_args *args)
{
    struct check_args taken = {.file = NULL};
    const enum cli_result result = take_args(args, &taken);
    if (result != CLI_END)
        return cli_exit_code(result);
    if (taken.wants_ready)
        return check_ready(args->command, taken.url, taken.is_json);
    if (taken.wants_reference)
        return load_print_reference(config_write_reference);
    return taken.is_json ? check_for_programs(taken.file) : check(taken.file);
}

const struct command command_check = {
    .name = "check",
    .group = GROUP_RUN,
    .summary = "Check a configuration and list all its mistakes",
    .usage = "[-c FILE] [--json] | --ready [-u URL] [--json]",
    .details = "Prints what would run, or every mistake on standard error (exit code 78).\n"
               "The environment counts as it does for `solvegate serve`.\n"
               "With --ready the configuration is not read: a running gateway is asked instead, as "
               "health checks do.\n",
    .flags = flags,
    .run = run,
};
