/* The one table of the createTask dialect: task types, the vendor's method and parameters of each,
 * and the members of its solution (docs/createtask.md). */
#ifndef SOLVEGATE_PROTO_TASK_TABLE_H
#define SOLVEGATE_PROTO_TASK_TABLE_H

#include <stdbool.h>

/* ---- from members of `task` to parameters ------------------------------------------------ */

enum task_value {
    VALUE_TEXT,      /* as it is; an object or array as its JSON text */
    VALUE_FLAG,      /* true becomes 1; false and 0 say nothing */
    VALUE_IMAGE,     /* base64, without the prefix of a data URI */
    VALUE_SUBDOMAIN, /* a host, with https:// if it has no scheme */
    VALUE_COOKIES,   /* "a=b; c=d" or a list of {name, value} becomes "a:b;c:d" */
    VALUE_LANGUAGE,  /* of a pool of workers: rn is ru */
    VALUE_PARTS,     /* an array: its items become NAME1, NAME2, … */
    VALUE_GRID,      /* rows and columns become "3x4" */
    VALUE_FRESH,     /* true asks for a solve of one's own */
    VALUE_IGNORED,
};

struct task_field {
    const char *member; /* "name", or "object.name" of an object or of text that holds its JSON */
    const char *param;
    enum task_value value;
};

/* ---- from an answer to the members of `solution` ----------------------------------------- */

/* The layout of a solution is the low bits of a task id, so these numbers must never change. */
enum task_layout {
    LAYOUT_NONE = 0,
    LAYOUT_RECAPTCHA = 1,
    LAYOUT_HCAPTCHA = 2,
    LAYOUT_TOKEN = 3,
    LAYOUT_CLEARANCE = 4,
    LAYOUT_TEXT = 5,
    LAYOUT_GEETEST = 6,
    LAYOUT_GEETEST_4 = 7,
    LAYOUT_AMAZON = 8,
    LAYOUT_LEMIN = 9,
    LAYOUT_CAPY = 10,
    LAYOUT_TENCENT = 11,
    LAYOUT_COOKIE = 12,
    LAYOUT_GRID = 13,
    LAYOUT_POINTS = 14,
    LAYOUT_PAIRS = 15,
    LAYOUT_ROTATE = 16,
    LAYOUT_CANVAS = 17,
    LAYOUT_BOXES = 18,
    LAYOUT_STEPS = 19,
    LAYOUT_COUNT = 20,
};

enum task_part {
    PART_ANSWER,        /* the answer's text */
    PART_MEMBER,        /* a member of the vendor's reply; left out if the reply has none */
    PART_MEMBER_OR_NIL, /* likewise, "" instead */
    PART_MEMBER_OR_ANSWER,
    PART_CLEARANCE, /* the cookie's value, out of whichever form the vendor chose */
    PART_JAR,       /* likewise, as {"cf_clearance": value} */
    PART_NIL,       /* "" */
    PART_NUMBER,    /* the answer's digits */
    PART_CELLS,     /* numbers of cells, as an array */
    PART_POINTS,    /* [{"x":1,"y":2}] */
    PART_PAIRS,     /* [[1,2]] */
    PART_JSON,      /* the answer's array or object, else its text */
};

#define TASK_NAMES_MAX 3

struct task_member {
    const char *name;
    enum task_part part;
    const char *from[TASK_NAMES_MAX]; /* names of it in the vendor's reply; none: its own */
};

/* The members of a layout, ended by one without a name. */
const struct task_member *task_members(enum task_layout layout);

/* ---- types ------------------------------------------------------------------------------- */

#define TASK_FIXED_MAX 3

struct task_type {
    const char *name; /* without Proxyless, which every type may have at its end */
    /* NULL, or a condition on the task: this member is given, or has this value if it is not NULL,
     * and the other one is not given. */
    const char *with;
    const char *value;
    const char *without;
    const char *method;
    struct {
        const char *name;
        const char *value;
    } fixed[TASK_FIXED_MAX]; /* parameters that the type itself says */
    const struct task_field
        *fields; /* ended by one without a member; tried before the common ones */
    enum task_layout layout;
    bool is_instant; /* CapSolver's clients expect the solution in the reply to createTask */
};

/* Ended by one without a name. Of the rows of one name the first whose condition holds is meant. */
extern const struct task_type task_types[];

/* Fields of every type, ended by one without a member. */
extern const struct task_field task_common_fields[];

#endif
