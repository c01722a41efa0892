#include "base/err.h"

#include <stddef.h>

struct err_words {
    const char *name;
    const char *text;
};

static const struct err_words words[ERR_INDEX_COUNT] = {
    [ERR_INDEX_NONE] = {.name = "ERR_NONE", .text = "no error"},
#define ERR_AS_WORDS(label, sentence) \
    [ERR_INDEX_##label] = {.name = "ERR_" #label, .text = sentence},
    ERR_LIST(ERR_AS_WORDS)
#undef ERR_AS_WORDS
};

static const struct err_words *words_of(int code)
{
    static const struct err_words unknown = {.name = "ERR_UNKNOWN", .text = "unknown error"};
    /* Compared before negating: -INT_MIN does not exist. */
    if (code > 0 || code <= -(int)ERR_INDEX_COUNT)
        return &unknown;
    return &words[-code];
}

const char *err_name(int code)
{
    return words_of(code)->name;
}

const char *err_text(int code)
{
    return words_of(code)->text;
}
