/* Completion for zsh and fish, which can show a description with every word. */
#include "cli/completion_others.h"

#include "cli/commands.h"
#include "cli/completion.h"

#include <string.h>

/* ---- zsh --------------------------------------------------------------------------------- */

/* One specification of _arguments: '(-c --config)'{-c,--config}'[help]:FILE:_files'. */
static void add_zsh_flag(struct buf *out, const struct cli_flag *flag)
{
    const char *const equals = flag->value_name == NULL ? "" : "=";
    buf_add(out, SLICE_OF("            "));
    if (flag->letter != 0)
        buf_addf(out, "'*'{-%c%s,--%s%s}'[", flag->letter, flag->value_name == NULL ? "" : "+",
                 flag->name, equals);
    else
        buf_addf(out, "'*--%s%s[", flag->name, equals);
    completion_add_quoted(out, flag->help, "[]:\\");
    buf_add_char(out, ']');
    if (flag->value_name != NULL) {
        buf_add_char(out, ':');
        completion_add_quoted(out, flag->value_name, "[]:\\");
        buf_add_char(out, ':');
        if (flag->words != NULL)
            buf_addf(out, "(%s)", flag->words);
        else if (completion_is_file(flag))
            buf_add(out, SLICE_OF("_files"));
        else
            buf_add_char(out, ' ');
    }
    buf_add(out, SLICE_OF("' \\\n"));
}

static void add_zsh_command(struct buf *out, const struct command *command)
{
    struct buf words;
    buf_init(&words, 4096);
    completion_add_words(&words, command);
    buf_addf(out, "    %s)\n        _arguments \\\n", command->name);
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        add_zsh_flag(out, flag);
    add_zsh_flag(out, &cli_help_flag);
    if (words.len > 0)
        buf_addf(out, "            '1: :(%.*s)' \\\n", (int)words.len, words.data);
    buf_add(out, SLICE_OF("            '*: : '\n        ;;\n"));
    buf_close(&words);
}

void completion_write_zsh(struct buf *out)
{
    buf_add(out, SLICE_OF("#compdef solvegate\n"
                          "# zsh completion for solvegate, made by `solvegate completion zsh`\n"
                          "_solvegate() {\n"
                          "    local -a commands\n"
                          "    commands=(\n"));
    for (size_t i = 0; commands[i] != NULL; i++) {
        buf_addf(out, "        '%s:", commands[i]->name);
        completion_add_quoted(out, commands[i]->summary, ":\\");
        buf_add(out, SLICE_OF("'\n"));
    }
    buf_add(out, SLICE_OF("    )\n"
                          "    if ((CURRENT == 2)); then\n"
                          "        _describe -t commands command commands\n"
                          "        return\n"
                          "    fi\n"
                          "    local command=$words[2]\n"
                          "    shift words\n"
                          "    ((CURRENT--))\n"
                          "    case $command in\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        add_zsh_command(out, commands[i]);
    buf_add(out, SLICE_OF("    esac\n}\n"
                          "if [[ $funcstack[1] == _solvegate ]]; then\n"
                          "    _solvegate \"$@\"\n"
                          "else\n"
                          "    compdef _solvegate solvegate\n"
                          "fi\n"));
}

/* ---- fish -------------------------------------------------------------------------------- */

#define FISH "complete -c solvegate"

/* Only the quote and the backslash are special within fish's single quotes. */
static void add_fish_quoted(struct buf *out, const char *text)
{
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '\'');
}

static void add_fish_flag(struct buf *out, const struct command *command,
                          const struct cli_flag *flag)
{
    buf_addf(out, FISH " -n '__fish_seen_subcommand_from %s' -l %s", command->name, flag->name);
    if (flag->letter != 0)
        buf_addf(out, " -s %c", flag->letter);
    if (flag->words != NULL)
        buf_addf(out, " -x -a '%s'", flag->words);
    else if (completion_is_file(flag))
        buf_add(out, SLICE_OF(" -r -F"));
    else if (flag->value_name != NULL)
        buf_add(out, SLICE_OF(" -x"));
    buf_add(out, SLICE_OF(" -d "));
    add_fish_quoted(out, flag->help);
    buf_add_char(out, '\n');
}

static void add_fish_command(struct buf *out, const struct command *command)
{
    struct buf words;
    buf_init(&words, 4096);
    completion_add_words(&words, command);
    buf_addf(out, FISH " -n __fish_use_subcommand -a %s -d ", command->name);
    add_fish_quoted(out, command->summary);
    buf_add_char(out, '\n');
    if (words.len > 0)
        buf_addf(out, FISH " -n '__fish_seen_subcommand_from %s' -a '%.*s'\n", command->name,
                 (int)words.len, words.data);
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        add_fish_flag(out, command, flag);
    add_fish_flag(out, command, &cli_help_flag);
    buf_close(&words);
}

void completion_write_fish(struct buf *out)
{
    buf_add(out,
            SLICE_OF("# fish completion for solvegate, made by `solvegate completion fish`\n" FISH
                     " -f\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        add_fish_command(out, commands[i]);
}
