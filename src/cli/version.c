#include "cli/cli.h"
#include "proto/json_out.h"

#include <sysexits.h>

#define JSON_MAX_BYTES 4096

static const struct cli_flag flags[] = {
    {.name = "build", .help = "also list the libraries that it was built with"},
    CLI_FLAG_JSON,
    {.name = NULL},
};

/* One library of the list: its name, its version, "static" or "shared". */
struct library {
    struct slice name;
    struct slice version;
    struct slice link;
};

static struct library take_library(struct slice *list)
{
    struct slice text = slice_take(list, ';');
    struct library library;
    library.name = slice_take(&text, ' ');
    library.version = slice_take(&text, ' ');
    library.link = text;
    return library;
}

static void print_for_people(bool wants_build)
{
    (void)puts("solvegate " SOLVEGATE_VERSION);
    struct slice list = SLICE_OF(SOLVEGATE_LIBRARIES);
    while (wants_build && list.len > 0) {
        const struct library library = take_library(&list);
        (void)printf("%-10.*s %.*s, %.*s\n", (int)library.name.len, library.name.data,
                     (int)library.version.len, library.version.data, (int)library.link.len,
                     library.link.data);
    }
}

static void print_for_programs(bool wants_build)
{
    struct buf out;
    buf_init(&out, JSON_MAX_BYTES);
    json_open(&out, '{');
    json_string(&out, "version", SOLVEGATE_VERSION);
    if (wants_build) {
        struct slice list = SLICE_OF(SOLVEGATE_LIBRARIES);
        json_member(&out, "libraries");
        json_open(&out, '[');
        while (list.len > 0) {
            const struct library library = take_library(&list);
            json_open(&out, '{');
            json_text(&out, "name", library.name);
            json_text(&out, "version", library.version);
            json_text(&out, "link", library.link);
            json_close(&out, '}');
        }
        json_close(&out, ']');
    }
    json_close(&out, '}');
    (void)printf("%.*s\n", (int)out.len, out.data);
    buf_close(&out);
}

static int run(struct cli_args *args)
{
    bool wants_build = false;
    bool is_json = false;
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return cli_exit_code(cli_wrong_argument(args->command, arg.value));
        if (cli_is_flag(&arg, "json"))
            is_json = true;
        else
            wants_build = true;
    }
    if (result != CLI_END)
        return cli_exit_code(result);
    if (is_json)
        print_for_programs(wants_build);
    else
        print_for_people(wants_build);
    return EX_OK;
}

const struct command command_version = {
    .name = "version",
    .group = GROUP_MORE,
    .summary = "Print the version",
    .usage = "[--build] [--json]",
    .flags = flags,
    .run = run,
};
