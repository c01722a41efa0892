#include "cli/completion.h"

#include "cli/commands.h"
#include "cli/completion_others.h"
#include "cli/show.h"

#include <string.h>
#include <sysexits.h>

#define SCRIPT_MAX_BYTES (1 << 20)
#define SHELLS "bash zsh fish"

bool completion_is_file(const struct cli_flag *flag)
{
    return flag->value_name != NULL && strcmp(flag->value_name, "FILE") == 0;
}

void completion_add_words(struct buf *out, const struct command *command)
{
    if (command->words != NULL)
        buf_add(out, slice_from(command->words));
    for (size_t i = 0; command == &command_help && commands[i] != NULL; i++)
        buf_addf(out, " %s", commands[i]->name);
}

void completion_add_quoted(struct buf *out, const char *text, const char *signs)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            buf_add(out, SLICE_OF("'\\''"));
        else if (strchr(signs, *text) != NULL)
            buf_addf(out, "\\%c", *text);
        else
            buf_add_char(out, *text);
    }
}

/* ---- bash -------------------------------------------------------------------------------- */

static void add_bash_names(struct buf *out, const struct cli_flag *flag, const char *command)
{
    buf_addf(out, "    %s,--%s", command, flag->name);
    if (flag->letter != 0)
        buf_addf(out, " | %s,-%c", command, flag->letter);
    buf_add(out, SLICE_OF(")\n"));
}

/* Completes the value of a flag: its words, a file, or nothing. */
static void add_bash_values(struct buf *out, const struct command *command)
{
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++) {
        if (flag->value_name == NULL)
            continue;
        add_bash_names(out, flag, command->name);
        buf_addf(out, "        words='%s'\n", flag->words == NULL ? "" : flag->words);
        if (completion_is_file(flag))
            buf_add(out, SLICE_OF("        is_file=1\n"));
        buf_add(out, SLICE_OF("        is_value=1\n        ;;\n"));
    }
}

static void add_bash_flags(struct buf *out, const struct command *command)
{
    buf_addf(out, "    %s)\n        flags='", command->name);
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        buf_addf(out, "--%s ", flag->name);
    buf_addf(out, "--%s'\n        words='", cli_help_flag.name);
    completion_add_words(out, command);
    buf_add(out, SLICE_OF("'\n        ;;\n"));
}

static void write_bash(struct buf *out)
{
    buf_add(out,
            SLICE_OF("# bash completion for solvegate, made by `solvegate completion bash`\n"
                     "# shellcheck shell=bash\n"
                     "_solvegate()\n{\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    local command=${COMP_WORDS[1]} flags='' words='' is_file='' "
                     "is_value=''\n"
                     "    # bash takes --flag=value apart at the equals sign.\n"
                     "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                     "    [[ $cur == = ]] && cur=''\n"
                     "    if ((COMP_CWORD == 1)); then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W '"));
    for (size_t i = 0; commands[i] != NULL; i++)
        buf_addf(out, "%s ", commands[i]->name);
    buf_add(out, SLICE_OF("--help --version' -- \"$cur\")\n        return\n    fi\n"
                          "    case $command in\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        add_bash_flags(out, commands[i]);
    buf_add(out, SLICE_OF("    esac\n    case $command,$prev in\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        add_bash_values(out, commands[i]);
    buf_add(out, SLICE_OF("    esac\n"
                          "    if [[ $is_file ]]; then\n"
                          "        compopt -o filenames 2>/dev/null\n"
                          "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                          "    elif [[ $is_value ]]; then\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                          "    elif [[ $cur == -* ]]; then\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n"
                          "    elif ((COMP_CWORD == 2)); then\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                          "    fi\n}\n"
                          "complete -F _solvegate solvegate\n"));
}

/* ---- the command ------------------------------------------------------------------------- */

static int print(const char *shell)
{
    struct buf out;
    buf_init(&out, SCRIPT_MAX_BYTES);
    if (strcmp(shell, "bash") == 0)
        write_bash(&out);
    else if (strcmp(shell, "zsh") == 0)
        completion_write_zsh(&out);
    else
        completion_write_fish(&out);
    show_print(&out);
    const int code = out.is_full ? EX_SOFTWARE : EX_OK;
    buf_close(&out);
    return code;
}

static int run(struct cli_args *args)
{
    struct cli_arg shell;
    enum cli_result result = cli_next(args, &shell);
    if (result == CLI_END) {
        cli_wrong(args->command, "say which shell: bash, zsh or fish");
        return EX_USAGE;
    }
    if (result != CLI_ARG)
        return cli_exit_code(result);
    if (!cli_has_word(SHELLS, shell.value))
        return cli_exit_code(cli_wrong_word(args->command, "shell", shell.value, SHELLS));
    result = cli_expect_nothing(args);
    return result == CLI_END ? print(shell.value) : cli_exit_code(result);
}

static const struct cli_example examples[] = {
    {"bash, in this shell", "source <(solvegate completion bash)"},
    {"zsh, for all to come", "solvegate completion zsh >\"${fpath[1]}/_solvegate\""},
    {"fish, for all to come",
     "solvegate completion fish >~/.config/fish/completions/solvegate.fish"},
    {NULL, NULL},
};

const struct command command_completion = {
    .name = "completion",
    .group = GROUP_MORE,
    .summary = "Print a completion script for bash, zsh or fish",
    .usage = "bash|zsh|fish",
    .words = SHELLS,
    .details = "Packages install these scripts; this is for those who built it themselves.\n",
    .examples = examples,
    .run = run,
};
