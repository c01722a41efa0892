#include "cli/cli.h"

#include "proto/nearest.h"

#include <string.h>

const struct command *const commands[] = {
    &command_serve, &command_check, &command_letters, &command_hash_key, &command_version,
    &command_help,  NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const struct command *command_nearest(const char *name)
{
    struct nearest nearest;
    nearest_init(&nearest, slice_from(name));
    for (size_t i = 0; commands[i] != NULL; i++)
        nearest_offer(&nearest, slice_from(commands[i]->name));
    return slice_is_given(nearest.best) ? command_find(nearest.best.data) : NULL;
}

void cli_write_overview(FILE *out)
{
    (void)fputs("solvegate stands between many workers and one paid captcha API: the same thing is "
                "paid once.\n"
                "\n"
                "usage: solvegate COMMAND [FLAGS]\n"
                "\n",
                out);
    for (size_t i = 0; commands[i] != NULL; i++)
        (void)fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    (void)fputs("\n"
                "`solvegate help COMMAND` tells more, `solvegate help config` lists every option,\n"
                "`solvegate help routes` every path that is served.\n"
                "To begin: CAPTCHAAI_API_KEY=... solvegate serve\n",
                out);
}
