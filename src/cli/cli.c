#include "cli/cli.h"

#include "base/assert.h"
#include "proto/nearest.h"

#include <stdarg.h>
#include <string.h>
#include <sysexits.h>

static const struct cli_flag help_flag = {'h', "help", NULL, "show this help"};

static bool is_last(const struct cli_flag *flag)
{
    return flag->letter == 0 && flag->name == NULL;
}

void cli_wrong(const struct command *command, const char *format, ...)
{
    (void)fprintf(stderr, "solvegate %s: ", command->name);
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\nTry `solvegate help %s`.\n", command->name);
}

static const struct cli_flag *find_long(const struct command *command, struct slice name)
{
    for (const struct cli_flag *flag = command->flags; flag != NULL && !is_last(flag); flag++)
        if (slice_equals(slice_from(flag->name), name))
            return flag;
    return slice_equals(slice_from(help_flag.name), name) ? &help_flag : NULL;
}

static const struct cli_flag *find_short(const struct command *command, char letter)
{
    for (const struct cli_flag *flag = command->flags; flag != NULL && !is_last(flag); flag++)
        if (flag->letter != 0 && flag->letter == letter)
            return flag;
    return letter == help_flag.letter ? &help_flag : NULL;
}

static enum cli_result wrong_long(const struct command *command, struct slice name)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (const struct cli_flag *flag = command->flags; flag != NULL && !is_last(flag); flag++)
        nearest_offer(&nearest, slice_from(flag->name));
    nearest_offer(&nearest, slice_from(help_flag.name));
    if (slice_is_given(nearest.best))
        cli_wrong(command, "unknown flag --%.*s, did you mean --%s?", (int)name.len, name.data,
                  nearest.best.data);
    else
        cli_wrong(command, "unknown flag --%.*s", (int)name.len, name.data);
    return CLI_WRONG;
}

/* attached is what follows "=" or the letter, or NULL. */
static enum cli_result take_flag(struct cli_args *args, const struct cli_flag *flag,
                                 const char *attached, struct cli_arg *arg)
{
    if (flag == &help_flag) {
        cli_write_help(args->command, stdout);
        return CLI_HELP;
    }
    *arg = (struct cli_arg){.flag = flag, .value = attached};
    if (flag->value_name == NULL && attached != NULL) {
        cli_wrong(args->command, "--%s takes no value", flag->name);
        return CLI_WRONG;
    }
    if (flag->value_name != NULL && attached == NULL) {
        if (*args->rest == NULL) {
            cli_wrong(args->command, "--%s needs a value: %s", flag->name, flag->value_name);
            return CLI_WRONG;
        }
        arg->value = *args->rest++;
    }
    return CLI_ARG;
}

static enum cli_result take_long(struct cli_args *args, const char *text, struct cli_arg *arg)
{
    const char *const equals = strchr(text, '=');
    const struct slice name = {.data = text,
                               .len = equals == NULL ? strlen(text) : (size_t)(equals - text)};
    const struct cli_flag *const flag = find_long(args->command, name);
    if (flag == NULL)
        return wrong_long(args->command, name);
    return take_flag(args, flag, equals == NULL ? NULL : equals + 1, arg);
}

static enum cli_result take_short(struct cli_args *args, const char *text, struct cli_arg *arg)
{
    const struct cli_flag *const flag = find_short(args->command, text[0]);
    if (flag == NULL) {
        cli_wrong(args->command, "unknown flag -%c", text[0]);
        return CLI_WRONG;
    }
    return take_flag(args, flag, text[1] == '\0' ? NULL : text + 1, arg);
}

enum cli_result cli_next(struct cli_args *args, struct cli_arg *arg)
{
    const char *text = *args->rest;
    if (text == NULL)
        return CLI_END;
    args->rest++;
    if (!args->is_past_flags && strcmp(text, "--") == 0) {
        args->is_past_flags = true;
        text = *args->rest;
        if (text == NULL)
            return CLI_END;
        args->rest++;
    }
    /* "-" alone is a file name everywhere. */
    if (args->is_past_flags || text[0] != '-' || text[1] == '\0') {
        *arg = (struct cli_arg){.flag = NULL, .value = text};
        return CLI_ARG;
    }
    return text[1] == '-' ? take_long(args, text + 2, arg) : take_short(args, text + 1, arg);
}

enum cli_result cli_expect_nothing(struct cli_args *args)
{
    struct cli_arg arg = {.value = NULL};
    const enum cli_result result = cli_next(args, &arg);
    if (result != CLI_ARG)
        return result;
    cli_wrong(args->command, "unexpected argument \"%s\"", arg.value);
    return CLI_WRONG;
}

int cli_exit_code(enum cli_result result)
{
    switch (result) {
    case CLI_END:
    case CLI_HELP:
        return EX_OK;
    case CLI_WRONG:
        return EX_USAGE;
    case CLI_ARG:
        break;
    }
    UNREACHABLE();
}

static void write_flag(const struct cli_flag *flag, FILE *out)
{
    char left[48];
    char letter[4] = "   ";
    if (flag->letter != 0)
        (void)snprintf(letter, sizeof(letter), "-%c,", flag->letter);
    (void)snprintf(left, sizeof(left), "%s --%s%s%s", letter, flag->name,
                   flag->value_name == NULL ? "" : " ",
                   flag->value_name == NULL ? "" : flag->value_name);
    (void)fprintf(out, "  %-26s %s\n", left, flag->help);
}

void cli_write_help(const struct command *command, FILE *out)
{
    (void)fprintf(out, "usage: solvegate %s%s%s\n%s.\n\n", command->name,
                  command->usage[0] == '\0' ? "" : " ", command->usage, command->summary);
    for (const struct cli_flag *flag = command->flags; flag != NULL && !is_last(flag); flag++)
        write_flag(flag, out);
    write_flag(&help_flag, out);
    if (command->details != NULL)
        (void)fprintf(out, "\n%s", command->details);
}
