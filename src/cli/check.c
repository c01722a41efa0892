#include "cli/cli.h"
#include "cli/load.h"

#include <inttypes.h>
#include <sodium.h>
#include <sysexits.h>

static void print_upstream(const struct config *config)
{
    (void)printf("upstream  %s, ", config->upstream.url);
    if (config->upstream.slots_are_auto)
        (void)printf("as many slots as the vendor says");
    else
        (void)printf("%" PRIu32 " slots", config->upstream.slots);
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
                     (client->scopes & SCOPE_ADMIN) != 0 ? "admin" : "", client->weight);
        if (client->allow_host_count == 0)
            (void)printf("every host");
        else
            (void)printf("%zu hosts", client->allow_host_count);
        if (client->budget_per_day != UINT64_MAX)
            (void)printf(", %" PRIu64 " submits a day", client->budget_per_day);
        (void)puts("");
    }
}

static void print_summary(const struct config *config)
{
    for (size_t i = 0; i < config->listen_count; i++)
        (void)printf("%s%s\n", i == 0 ? "listen    " : "          ", config->listen[i]);
    print_upstream(config);
    print_clients(config);
    (void)printf("sharing   %s\n",
                 config->dedup_is_global ? "between all clients" : "within each client");
    (void)puts("journal   none: everything is kept in memory only");
}

static int check(const char *file)
{
    struct config config;
    const int code = load_config(&config, file, NULL, 0);
    if (code == EX_OK) {
        (void)printf("%s: ok\n", file == NULL ? "environment and defaults" : load_file_name(file));
        print_summary(&config);
    }
    config_close(&config);
    return code;
}

static const struct cli_flag flags[] = {
    LOAD_FLAG_CONFIG,
    {0, "reference", NULL, "list every option with its default and leave"},
    {0, NULL, NULL, NULL},
};

static int run(struct cli_args *args)
{
    const char *file = NULL;
    bool wants_reference = false;
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL) {
            cli_wrong(args->command, "unexpected argument \"%s\" (a file is given with -c)",
                      arg.value);
            return EX_USAGE;
        }
        if (arg.flag == &flags[0])
            file = arg.value;
        else
            wants_reference = true;
    }
    if (result != CLI_END)
        return cli_exit_code(result);
    return wants_reference ? load_print_reference() : check(file);
}

const struct command command_check = {
    .name = "check",
    .summary = "Check a configuration and list all its mistakes",
    .usage = "[-c FILE]",
    .details = "Prints what would run, or every mistake on standard error (exit code 78).\n"
               "The environment counts as it does for `solvegate serve`.\n",
    .flags = flags,
    .run = run,
};
