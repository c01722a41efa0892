/* The parameters of one call, from query, form, multipart or JSON. */
#ifndef SOLVEGATE_SIM_PARAMS_H
#define SOLVEGATE_SIM_PARAMS_H

#include "base/err.h"
#include "base/slice.h"

#define PARAMS_MAX 128

struct param {
    struct slice name;
    struct slice value;
    struct slice filename; /* not given unless it is a file part */
};

struct params {
    struct param list[PARAMS_MAX];
    size_t count;
    char *scratch; /* owned; decoded text */
    size_t scratch_room;
    size_t scratch_used;
    void *document; /* owned yyjson document that JSON values point into */
};

void params_init(struct params *params);
void params_close(struct params *params);

/* Replaces the contents. The body is examined instead of trusting its content type: multipart only
 * with a boundary, JSON if it starts with a brace, a form otherwise. Values point into the
 * arguments and into params until the next call. ERR_INVALID for a broken body, ERR_FULL for too
 * many parameters. */
int params_parse(struct params *params, struct slice query, struct slice content_type,
                 struct slice body) MUST_CHECK;

/* The last one of that name, so the body overrides the query; NULL if there is none. */
const struct param *params_find(const struct params *params, struct slice name);

/* Its value, or SLICE_NONE. */
struct slice params_get(const struct params *params, struct slice name);

/* True if given and not blank. */
bool params_has(const struct params *params, struct slice name);

/* True for "1" or "true". */
bool params_is_set(const struct params *params, struct slice name);

/* For the parsers: ERR_FULL when there is no room. */
int params_add(struct params *params, const struct param *param) MUST_CHECK;

#endif
