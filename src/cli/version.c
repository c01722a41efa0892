#include "cli/cli.h"

static int run(struct cli_args *args)
{
    const enum cli_result result = cli_expect_nothing(args);
    if (result == CLI_END)
        (void)puts("solvegate " SOLVEGATE_VERSION);
    return cli_exit_code(result);
}

const struct command command_version = {
    .name = "version",
    .summary = "Print the version",
    .usage = "",
    .run = run,
};
