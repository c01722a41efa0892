/* Classes of ASCII characters. Those of <ctype.h> depend on the locale; names, hosts and JSON do not. */
#ifndef SOLVEGATE_BASE_ASCII_H
#define SOLVEGATE_BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || ascii_is_upper(c);
}

/* White space of JSON and of HTTP bodies. */
static inline bool ascii_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

#endif
