/* What is known of each `method`: its captcha, and what it cannot do without (docs/protocol.md 1a, 1b). */
#ifndef SOLVEGATE_PROTO_METHOD_H
#define SOLVEGATE_PROTO_METHOD_H

#include "proto/params.h"

#include <solvegate/types.h>

#define METHOD_NEEDS_SITEKEY 1U
#define METHOD_NEEDS_PAGEURL 2U
#define METHOD_NEEDS_PROXY 4U
#define METHOD_NEEDS_IMAGE 8U  /* `file` or `body`, or a text question instead */
#define METHOD_HAS_IMAGES 16U  /* base64 in the image fields stands for its bytes */
#define METHOD_BINDS_PROXY 32U /* to the egress address: the proxy is identity */
#define METHOD_ALSO_MAX 2
#define METHOD_ONCE_MAX 2

struct method {
    struct slice name;
    enum type type;
    unsigned needs;
    struct slice also[METHOD_ALSO_MAX]; /* further parameters it cannot do without */
    struct slice once[METHOD_ONCE_MAX]; /* inputs that a site gives out for one answer only */
};

/* NULL for a method nobody documented; those pass untouched. */
const struct method *method_find(struct slice name);

/* The method asked for, without the blanks around it, or the one that is meant when none is named, as
 * some clients do: `post` with a file or a text question, `base64` with a body; else SLICE_NONE. */
struct slice method_of(const struct params *params);

#endif
