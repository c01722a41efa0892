/* Operating failures: one list that yields codes and sentences. */
#ifndef SOLVEGATE_BASE_ERR_H
#define SOLVEGATE_BASE_ERR_H

/* name, sentence for a person */
#define ERR_LIST(X)                    \
    X(INVALID, "invalid input")        \
    X(FULL, "a limit was reached")     \
    X(NOT_FOUND, "not found")          \
    X(IO, "input or output failed")    \
    X(TIMEOUT, "timed out")            \
    X(CLOSED, "already closed")        \
    X(BUSY, "in use by somebody else") \
    X(UNSUPPORTED, "not supported here")

enum err_index {
    ERR_INDEX_NONE,
#define ERR_AS_INDEX(name, text) ERR_INDEX_##name,
    ERR_LIST(ERR_AS_INDEX)
#undef ERR_AS_INDEX
        ERR_INDEX_COUNT
};

/* Functions that can fail return 0 or one of these, all negative. */
enum err {
    ERR_NONE = 0,
#define ERR_AS_CODE(name, text) ERR_##name = -ERR_INDEX_##name,
    ERR_LIST(ERR_AS_CODE)
#undef ERR_AS_CODE
};

#define MUST_CHECK __attribute__((warn_unused_result))

/* "a limit was reached"; unknown codes get a fixed text. */
const char *err_text(int code);

#endif
