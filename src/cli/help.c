#include "cli/cli.h"

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/load.h"
#include "cli/manual.h"
#include "config/config_reference.h"
#include "doors/routes.h"

#include <string.h>
#include <sysexits.h>

static int print_config(void)
{
    return load_print_reference(config_write_reference);
}

static int print_routes(void)
{
    struct buf out;
    buf_init(&out, 65536);
    routes_print(&out);
    (void)fwrite(out.data, 1, out.len, stdout);
    buf_close(&out);
    return EX_OK;
}

static int print_exits(void)
{
    help_write_rows(help_exits, stdout);
    return EX_OK;
}

static int print_environment(void)
{
    help_write_rows(help_variables, stdout);
    return EX_OK;
}

/* The topics of help that are not commands. */
static const struct {
    const char *name;
    int (*print)(void);
} topics[] = {
    {"config", print_config},
    {"routes", print_routes},
    {"exits", print_exits},
    {"environment", print_environment},
};
#define TOPICS "config routes exits environment"

static int help_about(const char *topic)
{
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++)
        if (strcmp(topic, topics[i].name) == 0)
            return topics[i].print();
    const struct command *const command = command_find(topic);
    if (command != NULL) {
        help_write_command(command, stdout);
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

static const struct cli_flag flags[] = {
    {.name = "man",
     .value_name = "PAGE",
     .words = MANUAL_PAGES,
     .help = "print a manual page as roff: solvegate.1 or solvegate.json.5"},
    {.name = "markdown", .help = "print config as docs/configuration.md has it"},
    {.name = "json", .help = "print the table of all commands and flags as JSON"},
    {.name = NULL},
};

struct wanted {
    const char *topic;
    const char *page;
    bool is_json;
    bool is_markdown;
};

static enum cli_result read_args(struct cli_args *args, struct wanted *wanted)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (cli_is_flag(&arg, "json"))
            wanted->is_json = true;
        else if (cli_is_flag(&arg, "markdown"))
            wanted->is_markdown = true;
        else if (arg.flag != NULL && !cli_has_word(MANUAL_PAGES, arg.value))
            return cli_wrong_word(args->command, "page", arg.value, MANUAL_PAGES);
        else if (arg.flag != NULL)
            wanted->page = arg.value;
        else if (wanted->topic != NULL)
            return cli_wrong_argument(args->command, arg.value);
        else
            wanted->topic = arg.value;
    }
    return result;
}

static int run(struct cli_args *args)
{
    struct wanted wanted = {.topic = NULL};
    const enum cli_result result = read_args(args, &wanted);
    if (result != CLI_END)
        return cli_exit_code(result);
    if (wanted.page != NULL)
        return manual_print(wanted.page);
    if (wanted.is_markdown && (wanted.topic == NULL || strcmp(wanted.topic, "config") != 0)) {
        cli_wrong(args->command, "--markdown is for config");
        return EX_USAGE;
    }
    if (wanted.is_markdown)
        return load_print_reference(config_write_markdown);
    if (wanted.topic != NULL)
        return help_about(wanted.topic);
    if (wanted.is_json)
        help_write_json(stdout);
    else
        cli_write_overview(stdout);
    return EX_OK;
}

const struct command command_help = {
    .name = "help",
    .group = GROUP_MORE,
    .summary = "Tell about a command, or about config, routes, exits, environment",
    .usage = "[COMMAND|config|routes|exits|environment] [FLAGS]",
    .words = TOPICS,
    .flags = flags,
    .run = run,
};
