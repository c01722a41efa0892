#include "cli/cli.h"

#include "base/assert.h"
#include "cli/help_text.h"
#include "config/nearest.h"

#include <stdarg.h>
#include <string.h>
#include <sysexits.h>

const struct cli_flag cli_help_flag = {.letter = 'h', .name = "help", .help = "show this help"};

void cli_wrong(const struct command *command, const char *format, ...)
{
    (void)fprintf(stderr, "solvegate %s: ", command->name);
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\nTry `solvegate help %s`.\n", command->name);
}

enum cli_result cli_wrong_argument(const struct command *command, const char *argument)
{
    cli_wrong(command, "unexpected argument \"%s\"", argument);
    return CLI_WRONG;
}

/* ---- words ------------------------------------------------------------------------------- */

const char *cli_next_word(const char **words, size_t *len)
{
    if (*words == NULL || **words == '\0')
        return NULL;
    const char *const word = *words;
    *len = strcspn(word, " ");
    *words = word + *len + (word[*len] == ' ' ? 1 : 0);
    return word;
}

bool cli_has_word(const char *words, const char *word)
{
    const struct slice wanted = slice_from(word);
    struct slice one;
    while ((one.data = cli_next_word(&words, &one.len)) != NULL)
        if (slice_equals(one, wanted))
            return true;
    return false;
}

enum cli_result cli_wrong_word(const struct command *command, const char *what, const char *word,
                               const char *words)
{
    struct nearest nearest;
    const char *rest = words;
    struct slice one;
    nearest_init(&nearest, slice_from(word));
    while ((one.data = cli_next_word(&rest, &one.len)) != NULL)
        nearest_offer(&nearest, one);
    if (slice_is_given(nearest.best))
        cli_wrong(command, "unknown %s \"%s\", did you mean \"%.*s\"?", what, word,
                  (int)nearest.best.len, nearest.best.data);
    else
        cli_wrong(command, "unknown %s \"%s\", expected one of: %s", what, word, words);
    return CLI_WRONG;
}

/* ---- flags ------------------------------------------------------------------------------- */

static const struct cli_flag *find_long(const struct command *command, struct slice name)
{
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        if (slice_equals(slice_from(flag->name), name))
            return flag;
    return slice_equals(slice_from(cli_help_flag.name), name) ? &cli_help_flag : NULL;
}

static const struct cli_flag *find_short(const struct command *command, char letter)
{
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        if (flag->letter != 0 && flag->letter == letter)
            return flag;
    return letter == cli_help_flag.letter ? &cli_help_flag : NULL;
}

static enum cli_result wrong_long(const struct command *command, struct slice name)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        nearest_offer(&nearest, slice_from(flag->name));
    nearest_offer(&nearest, slice_from(cli_help_flag.name));
    if (slice_is_given(nearest.best))
        cli_wrong(command, "unknown flag --%.*s, did you mean --%s?", (int)name.len, name.data,
                  nearest.best.data);
    else
        cli_wrong(command, "unknown flag --%.*s", (int)name.len, name.data);
    return CLI_WRONG;
}

/* attached is the text after "=" or after the letter, or NULL. */
static enum cli_result take_flag(struct cli_args *args, const struct cli_flag *flag, char *attached,
                                 struct cli_arg *arg)
{
    if (flag == &cli_help_flag) {
        help_write_command(args->command, stdout);
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

static enum cli_result take_long(struct cli_args *args, char *text, struct cli_arg *arg)
{
    char *const equals = strchr(text, '=');
    const struct slice name = {.data = text,
                               .len = equals == NULL ? strlen(text) : (size_t)(equals - text)};
    const struct cli_flag *const flag = find_long(args->command, name);
    if (flag == NULL)
        return wrong_long(args->command, name);
    return take_flag(args, flag, equals == NULL ? NULL : equals + 1, arg);
}

static enum cli_result take_short(struct cli_args *args, char *text, struct cli_arg *arg)
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
    char *text = *args->rest;
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
    return result == CLI_ARG ? cli_wrong_argument(args->command, arg.value) : result;
}

bool cli_is_flag(const struct cli_arg *arg, const char *name)
{
    return arg->flag != NULL && strcmp(arg->flag->name, name) == 0;
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
