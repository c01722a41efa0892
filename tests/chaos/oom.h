/* Parsers on fixed inputs, each told as a text, so that the same story can be compared with memory running out. */
#ifndef SOLVEGATE_TESTS_CHAOS_OOM_H
#define SOLVEGATE_TESTS_CHAOS_OOM_H

#include <stdbool.h>
#include <stddef.h>

struct story {
    const char *name;
    /* Writes what was read into text and returns true; or returns false when it failed with an error that says
     * why. Everything it allocated is freed again either way. */
    bool (*run)(char *text, size_t room);
};

extern const struct story stories[];
extern const size_t story_count;

/* The text so far, which has to fit, is continued. */
void tell(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
