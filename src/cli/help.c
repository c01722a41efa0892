#include "cli/cli.h"

#include "cli/load.h"
#include "io/routes.h"

#include <string.h>
#include <sysexits.h>

static int print_routes(void)
{
    struct buf out;
    buf_init(&out, 65536);
    routes_print(&out);
    (void)fwrite(out.data, 1, out.len, stdout);
    buf_close(&out);
    return EX_OK;
}

static int help_about(const char *topic)
{
    if (strcmp(topic, "config") == 0)
        return load_print_reference();
    if (strcmp(topic, "routes") == 0)
        return print_routes();
    const struct command *const command = command_find(topic);
    if (command != NULL) {
        cli_write_help(command, stdout);
        return EX_OK;
    }
    const struct command *const nearest = command_nearest(topic);
    if (nearest != NULL)
        cli_wrong(&command_help, "there is no command \"%s\", did you mean \"%s\"?", topic,
                  nearest->name);
    else
        cli_wrong(&command_help, "there is no command \"%s\"", topic);
    return EX_USAGE;
}

static int run(struct cli_args *args)
{
    struct cli_arg topic;
    const enum cli_result result = cli_next(args, &topic);
    if (result == CLI_END)
        cli_write_overview(stdout);
    if (result != CLI_ARG)
        return cli_exit_code(result);
    const enum cli_result more = cli_expect_nothing(args);
    return more == CLI_END ? help_about(topic.value) : cli_exit_code(more);
}

const struct command command_help = {
    .name = "help",
    .summary = "Tell about a command, every option (config) or every path (routes)",
    .usage = "[COMMAND|config|routes]",
    .run = run,
};
