/* The terminal on standard output: how wide it is, what it can show, and the alternate screen. */
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
/* A terminal, and nobody set NO_COLOR. */
bool term_has_color(void);

/* From here on signals that end a process are only remembered; term_signal says which came. */
void term_catch_signals(void);
/* The signal that asked to end, or 0. */
int term_signal(void);
/* What a process that was ended by that signal exits with. */
int term_exit_code(int signal_number);

/* The alternate screen and keys without Enter, given back on every way out of the process. */
void term_open_screen(void);
void term_close_screen(void);
/* Draws over what is there: no flicker. Lines end with newlines and must fit. */
void term_draw(const char *text, unsigned long len);

/* Waits for a key, a signal or a change of the window, at most that long; a key, or 0. */
int term_wait(int milliseconds);

#endif
