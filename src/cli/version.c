#include "cli/cli.h"

static const struct cli_flag flags[] = {CLI_FLAG_JSON, {.name = NULL}};

static int run(struct cli_args *args)
{
    bool is_json = false;
    const enum cli_result result = cli_expect_nothing(args, &is_json);
    if (result == CLI_END)
        (void)puts(is_json ? "{\"version\":\"" SOLVEGATE_VERSION "\"}"
                           : "solvegate " SOLVEGATE_VERSION);
    return cli_exit_code(result);
}

const struct command command_version = {
    .name = "version",
    .group = GROUP_MORE,
    .summary = "Print the version",
    .usage = "[--json]",
    .flags = flags,
    .run = run,
};
