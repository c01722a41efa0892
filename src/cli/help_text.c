#include "cli/help_text.h"

#include "cli/commands.h"
#include "proto/json_out.h"

#include <string.h>

/* Terminals of eighty columns still exist, and longer lines are hard to read anyway. */
#define COLUMNS_MAX 80
#define FLAG_COLUMN 28
#define ROW_COLUMN 22
#define JSON_MAX_BYTES (1 << 20)

const char help_purpose[] = "solvegate stands between many workers and one paid captcha API: "
                            "the same thing is paid once.";

const struct help_row help_exits[] = {
    {"0", "it worked"},
    {"1", "the captcha was not solved: the vendor gave up, or the deadline passed"},
    {"64", "the command line is wrong"},
    {"65", "the gateway refused what was asked, or the input is not what it must be"},
    {"66", "a file cannot be read"},
    {"69", "no gateway answers, or it can do nothing at the moment; serve: it cannot listen"},
    {"71", "the system refused something"},
    {"73", "serve, store: the journal cannot be made"},
    {"74",
     "output cannot be written; serve, store: the journal cannot be reached, read or written, or "
     "did not take the last records"},
    {"75", "solve: no answer within --wait; asking again finds the same solve"},
    {"76", "the answer is not one of a gateway"},
    {"77", "the key is missing, wrong or may not do this"},
    {"78", "the configuration has mistakes"},
    {"130", "interrupted by Ctrl-C; 128 and the number of any other signal"},
    {NULL, NULL},
};

const struct help_row help_variables[] = {
    {"SOLVEGATE_URL", "the gateway to ask, as --url"},
    {"SOLVEGATE_KEY", "the client's key for it; other users cannot read it, unlike arguments"},
    {"SOLVEGATE_...", "serve, check: any option of the configuration, see solvegate.json(5)"},
    {"CAPTCHAAI_API_KEY",
     "serve, check: the vendor's key, when upstream.key is given nowhere; bench vendor"},
    {"NO_COLOR", "when set and not empty, nothing is coloured"},
    {NULL, NULL},
};

/* Wraps words from column `at` up to the right edge; further lines begin at `column`. */
static void write_flowing(FILE *out, const char *text, int at, int column)
{
    bool is_first = true;
    while (*text != '\0' && *text != '\n') {
        const int len = (int)strcspn(text, " \n");
        if (!is_first && at + 1 + len > COLUMNS_MAX) {
            (void)fprintf(out, "\n%*s", column, "");
            at = column;
            is_first = true;
        }
        (void)fprintf(out, "%s%.*s", is_first ? "" : " ", len, text);
        at += len + (is_first ? 0 : 1);
        is_first = false;
        text += len;
        text += strspn(text, " ");
    }
    (void)fputc('\n', out);
}

/* Writes the left column, then the text; a left side that is too long gets a line of its own. */
static void write_row(FILE *out, const char *left, const char *text, int column)
{
    const int len = fprintf(out, "  %s", left);
    if (len + 2 > column)
        (void)fprintf(out, "\n%*s", column, "");
    else
        (void)fprintf(out, "%*s", column - len, "");
    write_flowing(out, text, column, column);
}

static void write_flag(const struct cli_flag *flag, FILE *out)
{
    char left[64];
    char letter[4] = "   ";
    if (flag->letter != 0)
        (void)snprintf(letter, sizeof letter, "-%c,", flag->letter);
    (void)snprintf(left, sizeof left, "%s --%s%s%s", letter, flag->name,
                   flag->value_name == NULL ? "" : " ",
                   flag->value_name == NULL ? "" : flag->value_name);
    write_row(out, left, flag->help, FLAG_COLUMN);
}

static void write_paragraphs(const char *text, FILE *out)
{
    while (*text != '\0') {
        write_flowing(out, text, 0, 0);
        text += strcspn(text, "\n");
        text += *text == '\n' ? 1 : 0;
    }
}

void help_write_command(const struct command *command, FILE *out)
{
    const int indent = fprintf(out, "usage: solvegate %s ", command->name);
    write_flowing(out, command->usage, indent, indent);
    (void)fprintf(out, "%s.\n\n", command->summary);
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        write_flag(flag, out);
    write_flag(&cli_help_flag, out);
    if (command->details != NULL) {
        (void)fputc('\n', out);
        write_paragraphs(command->details, out);
    }
    if (command->examples != NULL)
        (void)fputs("\nExamples:\n", out);
    for (const struct cli_example *one = command->examples; one != NULL && one->what != NULL; one++)
        (void)fprintf(out, "  # %s\n  %s\n", one->what, one->line);
}

static void write_group(enum command_group group, FILE *out)
{
    (void)fprintf(out, "%s:\n", command_group_title(group));
    for (size_t i = 0; commands[i] != NULL; i++)
        if (commands[i]->group == group)
            (void)fprintf(out, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    (void)fputc('\n', out);
}

void cli_write_overview(FILE *out)
{
    write_flowing(out, help_purpose, 0, 0);
    (void)fputs("\nusage: solvegate COMMAND [FLAGS]\n\n", out);
    for (int group = 0; group < GROUP_COUNT; group++)
        write_group((enum command_group)group, out);
    (void)fputs("`solvegate help COMMAND` tells more; `help config` lists every option, `help\n"
                "routes` every path that is served, `help exits` and `help environment` the rest.\n"
                "To begin: CAPTCHAAI_API_KEY=... solvegate serve\n",
                out);
}

void help_write_rows(const struct help_row *rows, FILE *out)
{
    for (; rows->name != NULL; rows++)
        write_row(out, rows->name, rows->text, ROW_COLUMN);
}

/* ---- the table as JSON ------------------------------------------------------------------- */

static void add_words(struct buf *out, const char *words)
{
    size_t len;
    json_member(out, "words");
    json_open(out, '[');
    for (const char *word; (word = cli_next_word(&words, &len)) != NULL;) {
        json_item(out);
        json_add_string(out, (struct slice){.data = word, .len = len});
    }
    json_close(out, ']');
}

static void add_flag(struct buf *out, const struct cli_flag *flag)
{
    json_open(out, '{');
    json_string(out, "name", flag->name);
    if (flag->letter != 0)
        json_text(out, "letter", (struct slice){.data = &flag->letter, .len = 1});
    if (flag->value_name != NULL)
        json_string(out, "value", flag->value_name);
    add_words(out, flag->words);
    json_string(out, "help", flag->help);
    json_close(out, '}');
}

static void add_command(struct buf *out, const struct command *command)
{
    json_open(out, '{');
    json_string(out, "name", command->name);
    json_string(out, "summary", command->summary);
    json_string(out, "usage", command->usage);
    add_words(out, command->words);
    json_member(out, "flags");
    json_open(out, '[');
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        add_flag(out, flag);
    add_flag(out, &cli_help_flag);
    json_close(out, ']');
    json_close(out, '}');
}

static void add_rows(struct buf *out, const char *name, const struct help_row *rows)
{
    json_member(out, name);
    json_open(out, '{');
    for (; rows->name != NULL; rows++)
        json_string(out, rows->name, rows->text);
    json_close(out, '}');
}

void help_write_json(FILE *out)
{
    struct buf text;
    buf_init(&text, JSON_MAX_BYTES);
    json_open(&text, '{');
    json_string(&text, "version", SOLVEGATE_VERSION);
    json_member(&text, "commands");
    json_open(&text, '[');
    for (size_t i = 0; commands[i] != NULL; i++)
        add_command(&text, commands[i]);
    json_close(&text, ']');
    add_rows(&text, "exits", help_exits);
    add_rows(&text, "environment", help_variables);
    json_close(&text, '}');
    (void)fprintf(out, "%.*s\n", (int)text.len, buf_slice(&text).data);
    buf_close(&text);
}
