/* The table of all faults: names, values and meanings. */
#ifndef SOLVEGATE_SIM_FAULT_H
#define SOLVEGATE_SIM_FAULT_H

#include "base/slice.h"

#include <stdint.h>

/* The call that a fault affects. Task and callback faults are drawn when the submit is accepted. */
enum fault_place {
    PLACE_SUBMIT,   /* in.php and solve.php */
    PLACE_POLL,     /* res.php get, get2 */
    PLACE_ACCOUNT,  /* res.php getbalance, threadsinfo, reports */
    PLACE_TASK,     /* the solve of the task */
    PLACE_CALLBACK, /* submits that carry a pingback */
    PLACE_COUNT,
};

enum fault_kind {
    FAULT_NONE,
    FAULT_CLOSE,
    FAULT_RESET,
    FAULT_STALL,
    FAULT_HANG,
    FAULT_LOST,
    FAULT_LOST_RESET,
    FAULT_429,
    FAULT_5XX,
    FAULT_5XX_ACCEPTED,
    FAULT_GARBAGE,
    FAULT_EMPTY,
    FAULT_TRUNCATE,
    FAULT_DRIP,
    FAULT_DELAY,
    FAULT_ERROR,
    FAULT_WRONG_ID,
    FAULT_TWICE,
    FAULT_NEVER,
    FAULT_SLOW,
    FAULT_REPLY,
    FAULT_DROP,
    FAULT_EARLY,
    FAULT_LATE,
    FAULT_FORGED,
    FAULT_OTHER_CODE,
    FAULT_CODE,
};

enum fault_value {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_BYTES, /* any text; %XX in it is a byte */
    VALUE_MS,
    VALUE_NUMBER,
};

struct fault_row {
    const char *name;
    enum fault_place place;
    enum fault_kind kind;
    enum fault_value value;
    const char *fallback; /* the default value, or NULL */
    const char *help;
};

struct fault {
    const struct fault_row *row; /* NULL: no fault */
    const char *text;            /* of VALUE_TEXT and VALUE_BYTES; lives as long as the process */
    uint64_t number;             /* of VALUE_MS and VALUE_NUMBER */
};

/* Half of the body, for a truncation without a value. */
#define FAULT_HALF UINT64_MAX

extern const struct fault_row fault_rows[];
extern const size_t fault_row_count;

static inline enum fault_kind fault_kind(const struct fault *fault)
{
    return fault->row == NULL ? FAULT_NONE : fault->row->kind;
}

/* The row of that name, ignoring case, or NULL. */
const struct fault_row *fault_find(struct slice name);

/* The most similar name, for a suggestion, or NULL. */
const char *fault_suggest(struct slice name);

/* Fills *fault from a row and the value's text, which may be absent. False if the value is invalid. */
bool fault_set(struct fault *fault, const struct fault_row *row, struct slice value);

#endif
