#include "cli/manual.h"

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/manual_config.h"
#include "cli/show.h"

#include <sysexits.h>

#define PAGE_MAX_BYTES (1 << 20)

/* ---- roff -------------------------------------------------------------------------------- */

static void add_escaped(struct buf *out, char c)
{
    switch (c) {
    case '\\':
        buf_add(out, SLICE_OF("\\e"));
        break;
    case '-':
        buf_add(out, SLICE_OF("\\-"));
        break;
    case '\'':
        buf_add(out, SLICE_OF("\\(aq"));
        break;
    case '^':
        buf_add(out, SLICE_OF("\\(ha"));
        break;
    case '~':
        buf_add(out, SLICE_OF("\\(ti"));
        break;
    default:
        buf_add_char(out, c);
        break;
    }
}

void manual_add_text(struct buf *out, struct slice text)
{
    bool is_bold = false;
    for (size_t i = 0; i < text.len; i++) {
        const bool is_at_start = i == 0 || text.data[i - 1] == '\n';
        /* A dot at the start of a line would begin a roff command. */
        if (is_at_start && text.data[i] == '.')
            buf_add(out, SLICE_OF("\\&"));
        if (text.data[i] == '`') {
            buf_add(out, is_bold ? SLICE_OF("\\fR") : SLICE_OF("\\fB"));
            is_bold = !is_bold;
        } else {
            add_escaped(out, text.data[i]);
        }
    }
}

static void add_line(struct buf *out, const char *text)
{
    manual_add_text(out, slice_from(text));
    buf_add_char(out, '\n');
}

void manual_add_head(struct buf *out, const char *name, int section, const char *summary)
{
    buf_add(out, SLICE_OF(".\\\" Made from the program's own tables; do not edit.\n.TH "));
    for (const char *at = name; *at != '\0'; at++)
        buf_add_char(out, (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at));
    buf_addf(out, " %d \"\" \"solvegate %s\" \"solvegate\"\n", section, SOLVEGATE_VERSION);
    /* Readers copy options and examples, so there is no hyphenation and no justification. */
    buf_add(out, SLICE_OF(".nh\n.ad l\n.SH NAME\n"));
    add_line(out, name);
    out->len--;
    buf_add(out, SLICE_OF(" \\- "));
    add_line(out, summary);
}

/* ---- solvegate(1) ------------------------------------------------------------------------ */

static void add_flag(struct buf *out, const struct cli_flag *flag)
{
    buf_add(out, SLICE_OF(".TP\n"));
    if (flag->letter != 0)
        buf_addf(out, "\\fB\\-%c\\fR, ", flag->letter);
    buf_add(out, SLICE_OF("\\fB\\-\\-"));
    manual_add_text(out, slice_from(flag->name));
    buf_add(out, SLICE_OF("\\fR"));
    if (flag->value_name != NULL)
        buf_addf(out, " \\fI%s\\fR", flag->value_name);
    buf_add_char(out, '\n');
    add_line(out, flag->help);
}

static void add_paragraphs(struct buf *out, const char *text)
{
    while (*text != '\0') {
        const size_t len = strcspn(text, "\n");
        buf_add(out, SLICE_OF(".PP\n"));
        manual_add_text(out, (struct slice){.data = text, .len = len});
        buf_add_char(out, '\n');
        text += len + (text[len] == '\n' ? 1 : 0);
    }
}

static void add_command(struct buf *out, const struct command *command)
{
    buf_add(out, SLICE_OF(".SS "));
    add_line(out, command->name);
    buf_add(out, SLICE_OF("\\fBsolvegate "));
    manual_add_text(out, slice_from(command->name));
    buf_add(out, SLICE_OF("\\fR "));
    add_line(out, command->usage);
    buf_add(out, SLICE_OF(".PP\n"));
    add_line(out, command->summary);
    out->len--;
    buf_add(out, SLICE_OF(".\n"));
    if (command->details != NULL)
        add_paragraphs(out, command->details);
    for (const struct cli_flag *flag = command->flags; flag != NULL && flag->name != NULL; flag++)
        add_flag(out, flag);
    add_flag(out, &cli_help_flag);
}

static void add_rows(struct buf *out, const char *title, const struct help_row *rows)
{
    buf_addf(out, ".SH %s\n", title);
    for (; rows->name != NULL; rows++) {
        buf_add(out, SLICE_OF(".TP\n\\fB"));
        manual_add_text(out, slice_from(rows->name));
        buf_add(out, SLICE_OF("\\fR\n"));
        add_line(out, rows->text);
    }
}

static void add_examples(struct buf *out)
{
    buf_add(out, SLICE_OF(".SH EXAMPLES\n"));
    for (size_t i = 0; commands[i] != NULL; i++) {
        const struct cli_example *one = commands[i]->examples;
        for (; one != NULL && one->what != NULL; one++) {
            buf_add(out, SLICE_OF(".TP\n"));
            add_line(out, one->what);
            buf_add(out, SLICE_OF(".EX\n"));
            add_line(out, one->line);
            buf_add(out, SLICE_OF(".EE\n"));
        }
    }
}

static void write_commands(struct buf *out)
{
    manual_add_head(out, "solvegate", 1, "pay for the same captcha once");
    buf_add(out, SLICE_OF(".SH SYNOPSIS\n\\fBsolvegate\\fR \\fICOMMAND\\fR [\\fIFLAGS\\fR]\n"));
    buf_add(out, SLICE_OF(".SH DESCRIPTION\n"));
    add_line(out, help_purpose);
    add_paragraphs(out,
                   "Workers talk to it exactly as they would to the vendor, or through a JSON API; "
                   "`solvegate help routes` lists every path. Both `--name value` and "
                   "`--name=value` are understood. Data goes to standard output, words to standard "
                   "error.\n");
    buf_add(out, SLICE_OF(".SH COMMANDS\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        add_command(out, commands[i]);
    add_rows(out, "EXIT STATUS", help_exits);
    add_rows(out, "ENVIRONMENT", help_variables);
    add_examples(out);
    buf_add(out, SLICE_OF(".SH SEE ALSO\n.BR solvegate.json (5),\n.BR solvegate\\-sim (1)\n"));
}

int manual_print(const char *page)
{
    struct buf out;
    buf_init(&out, PAGE_MAX_BYTES);
    if (strcmp(page, "solvegate.1") == 0)
        write_commands(&out);
    else
        manual_write_config(&out);
    show_print(&out);
    const int code = out.is_full ? EX_SOFTWARE : EX_OK;
    buf_close(&out);
    return code;
}
