/* The contract's enums as text, for config, API, metrics and traces. */
#ifndef SOLVEGATE_WORDS_H
#define SOLVEGATE_WORDS_H

#include <solvegate/record.h>
#include <solvegate/types.h>

#include "base/assert.h"

#define WORD_AT(name, text) text,

static inline const char *type_name(enum type type)
{
    static const char *const names[] = {TYPE_LIST(WORD_AT)};
    ASSERT(type < TYPE_COUNT);
    return names[type];
}

static inline const char *dialect_name(enum dialect_kind dialect)
{
    static const char *const names[] = {DIALECT_LIST(WORD_AT)};
    ASSERT(dialect < DIALECT_COUNT);
    return names[dialect];
}

static inline const char *source_name(enum source source)
{
    static const char *const names[] = {SOURCE_LIST(WORD_AT)};
    ASSERT(source < SOURCE_COUNT);
    return names[source];
}

static inline const char *error_class_name(enum error_class class)
{
    static const char *const names[] = {CLASS_LIST(WORD_AT)};
    ASSERT(class < CLASS_COUNT);
    return names[class];
}

static inline const char *cause_name(enum cause cause)
{
    static const char *const names[] = {CAUSE_LIST(WORD_AT)};
    ASSERT(cause < CAUSE_COUNT);
    return names[cause];
}

static inline const char *refusal_text(enum refusal refusal)
{
    static const char *const names[] = {REFUSAL_LIST(WORD_AT)};
    ASSERT(refusal < REFUSAL_COUNT);
    return names[refusal];
}

static inline const char *reuse_name(enum reuse reuse)
{
    switch (reuse) {
    case REUSE_DEFAULT:
        return "default";
    case REUSE_SHARED:
        return "shared";
    case REUSE_SINGLE:
        return "single";
    case REUSE_NONE:
        return "none";
    }
    UNREACHABLE();
}

static inline const char *request_state_name(enum request_state state)
{
    switch (state) {
    case REQUEST_QUEUED:
        return "queued";
    case REQUEST_SOLVING:
        return "solving";
    case REQUEST_SOLVED:
        return "solved";
    case REQUEST_FAILED:
        return "failed";
    }
    UNREACHABLE();
}

static inline const char *breaker_state_name(enum breaker_state state)
{
    switch (state) {
    case BREAKER_CLOSED:
        return "closed";
    case BREAKER_OPEN:
        return "open";
    case BREAKER_PROBING:
        return "probing";
    }
    UNREACHABLE();
}

static inline const char *letter_kind_name(enum letter_kind kind)
{
    static const char *const names[] = {LETTER_KIND_LIST(WORD_AT)};
    ASSERT(kind < LETTER_KIND_COUNT);
    return names[kind];
}

#undef WORD_AT

/* The gateway's own codes, in the vendor's style, which its clients know how to read. The vendor's
 * codes stay in proto, which tells the engine classes and facts. */
#define CODE_ADOPTED_TOO_OFTEN SLICE_OF("ERROR_ADOPTED_TOO_OFTEN")
#define CODE_AMBIGUOUS_SUBMIT SLICE_OF("ERROR_AMBIGUOUS_SUBMIT")
#define CODE_CLIENT_GONE SLICE_OF("ERROR_CLIENT_GONE")
#define CODE_NOTICE_NOT_TAKEN SLICE_OF("ERROR_NOTICE_NOT_TAKEN")
#define CODE_OTHER_SOLUTION SLICE_OF("ERROR_OTHER_SOLUTION")
#define CODE_SOLUTION_WITHOUT_FLIGHT SLICE_OF("ERROR_SOLUTION_WITHOUT_FLIGHT")
#define CODE_SOLVE_TIMEOUT SLICE_OF("ERROR_SOLVE_TIMEOUT")
#define CODE_STORE_AWAY SLICE_OF("ERROR_STORE_AWAY")
#define CODE_TASK_OF_ANOTHER SLICE_OF("ERROR_TASK_OF_ANOTHER")
#define CODE_UPSTREAM_UNCERTAIN SLICE_OF("ERROR_UPSTREAM_UNCERTAIN")
/* Paid answers that cannot be handed out. */
#define CODE_BAD_SOLUTION SLICE_OF("ERROR_BAD_SOLUTION")
#define CODE_HUGE_SOLUTION SLICE_OF("ERROR_SOLUTION_TOO_LARGE")
/* Nothing left to pay with, in a budget or at the vendor. */
#define CODE_NO_MEANS SLICE_OF("ERROR_ZERO_BALANCE")

#endif
