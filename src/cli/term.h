/* The terminal on standard output: its size, its abilities, and the alternate screen. */
#ifndef SOLVEGATE_CLI_TERM_H
#define SOLVEGATE_CLI_TERM_H

#include <stdbool.h>

struct term_size {
    unsigned columns;
    unsigned lines;
};

bool term_is_output(void);
/* 0 when standard output is no terminal: then nothing is cut. */
unsigned term_width(void);
struct term_size term_size(void);
bool term_is_utf8(void);
/* True on a terminal unless NO_COLOR is set. */
bool term_has_color(void);

/* From here on ending signals are only recorded; term_signal returns the one that came. */
void term_catch_signals(void);
/* The recorded signal, or 0. */
int term_signal(void);
/* The exit code of a process that this signal ended. */
int term_exit_code(int signal_number);

/* Opens the alternate screen and reads keys without Enter; both are undone on every way out of the
 * process. */
void term_open_screen(void);
void term_close_screen(void);
/* Draws over the old content, which avoids flicker. Lines end with newlines and must fit. */
void term_draw(const char *text, unsigned long len);

/* Waits at most that long for a key, a signal or a resize; returns the key, or 0. */
int term_wait(int milliseconds);

#endif
