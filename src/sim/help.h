/* The program's help: the table that --help and the manual page are written from. */
#ifndef SOLVEGATE_SIM_HELP_H
#define SOLVEGATE_SIM_HELP_H

#include <stdbool.h>
#include <stddef.h>

struct help_row {
    const char *name; /* NULL ends a list */
    const char *text;
};

/* A section: paragraphs, then rows or verbatim lines, then paragraphs. Paragraphs end with newlines
 * and are wrapped. */
struct help_section {
    const char *title;           /* NULL ends the list */
    const char *before;          /* or NULL */
    const struct help_row *rows; /* or NULL */
    int column;                  /* the column of the rows' texts in --help */
    bool has_faults;             /* its rows are the table of faults */
    const char *lines;           /* or NULL */
    const char *after;           /* or NULL */
};

extern const char help_usage[];
extern const char help_summary[];
extern const struct help_section help_sections[];

/* Writes the fault's meaning with its default. */
void help_write_fault(size_t place, char *out, size_t room);

void help_print(void);

#endif
