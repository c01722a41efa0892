/* A borrowed run of bytes, owned by its creator. */
#ifndef SOLVEGATE_BASE_SLICE_H
#define SOLVEGATE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *data; /* borrowed; NULL means "not given", which is not the same as empty */
    size_t len;
};

#define SLICE_NONE ((struct slice){.data = NULL, .len = 0})
/* A slice of a string literal; its length is a compile-time constant. */
#define SLICE_OF(literal) ((struct slice){.data = (literal), .len = sizeof(literal) - 1})
/* SLICE_OF for static tables, where a compound literal is not constant enough. */
#define SLICE_INIT(literal) {.data = (literal), .len = sizeof(literal) - 1}

static inline struct slice slice_from(const char *text)
{
    return (struct slice){.data = text, .len = text == NULL ? 0 : strlen(text)};
}

static inline bool slice_is_given(struct slice s)
{
    return s.data != NULL;
}

static inline bool slice_equals(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Compares without regard to the case of ASCII letters, as for header names and hosts. */
bool slice_equals_nocase(struct slice a, struct slice b);

bool slice_starts_with(struct slice s, struct slice prefix);

/* All but the first bytes. */
static inline struct slice slice_skip(struct slice s, size_t count)
{
    return (struct slice){.data = s.data + count, .len = s.len - count};
}

/* Takes what precedes the first separator off the rest, and the separator with it; without one, all
 * of the rest. */
struct slice slice_take(struct slice *rest, char separator);

/* Strips leading and trailing spaces and tabs. */
struct slice slice_trim(struct slice s);

/* Parses decimal digits only: no sign, no overflow; false leaves *value unchanged. */
bool slice_to_u64(struct slice s, unsigned long long *value);

#endif
