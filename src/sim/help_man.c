/* Prints solvegate-sim(1) from the table of --help. A separate program that only the build runs. */
#include "sim/fault.h"
#include "sim/help.h"

#include <stdio.h>
#include <string.h>

#ifndef SIM_VERSION
#define SIM_VERSION "unknown"
#endif
#define FAULT_TEXT_MAX 256

/* Prints text that roff shows unchanged. It must begin a line. */
static void print_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const bool is_at_start = i == 0 || text[i - 1] == '\n';
        if (is_at_start && text[i] == '.')
            fputs("\\&", stdout);
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else if (text[i] == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(text[i]);
    }
}

/* A title already begins a paragraph. */
static void print_paragraphs(const char *text, bool is_after_title)
{
    for (const char *start = text; text != NULL && *text != '\0';) {
        const size_t length = strcspn(text, "\n");
        if (!is_after_title || text != start)
            fputs(".PP\n", stdout);
        print_text(text, length);
        putchar('\n');
        text += length + 1;
    }
}

static void print_row(const char *name, const char *text)
{
    fputs(".TP\n\\fB", stdout);
    print_text(name, strlen(name));
    fputs("\\fR\n", stdout);
    print_text(text, strlen(text));
    putchar('\n');
}

static void print_section(const struct help_section *section)
{
    char text[FAULT_TEXT_MAX];

    printf(".SH %s\n", section->title);
    print_paragraphs(section->before, true);
    for (const struct help_row *row = section->rows; row != NULL && row->name != NULL; row++)
        print_row(row->name, row->text);
    for (size_t i = 0; section->has_faults && i < fault_row_count; i++) {
        help_write_fault(i, text, sizeof text);
        print_row(fault_rows[i].name, text);
    }
    if (section->lines != NULL) {
        fputs(".PP\n.EX\n", stdout);
        print_text(section->lines, strlen(section->lines));
        fputs(".EE\n", stdout);
    }
    print_paragraphs(section->after, false);
}

int main(void)
{
    fputs(".\\\" Made from the program's own table; do not edit.\n", stdout);
    printf(".TH SOLVEGATE\\-SIM 1 \"\" \"solvegate %s\" \"solvegate\"\n", SIM_VERSION);
    printf(".nh\n.ad l\n.SH NAME\nsolvegate\\-sim \\- %s\n.SH SYNOPSIS\n", help_summary);
    print_text(help_usage, strlen(help_usage));
    putchar('\n');
    for (const struct help_section *section = help_sections; section->title != NULL; section++)
        print_section(section);
    fputs(".SH SEE ALSO\n.BR solvegate (1)\n", stdout);
    return ferror(stdout) != 0 || fflush(stdout) != 0;
}
