#include "base/err.h"

static const char *const texts[ERR_INDEX_COUNT] = {[ERR_INDEX_NONE] = "no error",
#define ERR_AS_TEXT(label, sentence) [ERR_INDEX_##label] = sentence,
                                                   ERR_LIST(ERR_AS_TEXT)
#undef ERR_AS_TEXT
};

const char *err_text(int code)
{
    /* Compared before negating: -INT_MIN does not exist. */
    return code > 0 || code <= -(int)ERR_INDEX_COUNT ? "unknown error" : texts[-code];
}
