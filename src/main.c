#include "cli/cli.h"

#include "cli/commands.h"
#include "cli/help_text.h"

#include <sodium.h>
#include <string.h>
#include <sysexits.h>

static int unknown_command(const char *name)
{
    const struct command *const nearest = command_nearest(name);
    (void)fprintf(stderr, "solvegate: there is no %s \"%s\"", name[0] == '-' ? "flag" : "command",
                  name);
    if (nearest != NULL)
        (void)fprintf(stderr, ", did you mean \"%s\"?", nearest->name);
    (void)fputs("\nTry `solvegate help`.\n", stderr);
    return EX_USAGE;
}

static int dispatch(char **arguments)
{
    const char *name = arguments[0];
    if (name == NULL) {
        cli_write_overview(stderr);
        return EX_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = command_help.name;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = command_version.name;
    const struct command *const command = command_find(name);
    if (command == NULL)
        return unknown_command(name);
    struct cli_args args = {.command = command, .rest = arguments + 1};
    return command->run(&args);
}

int main(int argc, char **argv)
{
    if (sodium_init() < 0) {
        (void)fputs("solvegate: libsodium finds no source of randomness\n", stderr);
        return EX_OSERR;
    }
    const int code = dispatch(argc > 0 ? argv + 1 : argv);
    /* On a full disk the output is lost, which the exit code must tell. */
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        return code == EX_OK ? EX_IOERR : code;
    return code;
}
