/* Known values of `method`: the type of each, and the parameters it requires (docs/protocol.md 1a, 1b). */
#ifndef SOLVEGATE_PROTO_METHOD_H
#define SOLVEGATE_PROTO_METHOD_H

#include "proto/params.h"

#include <solvegate/types.h>

#define METHOD_NEEDS_SITEKEY 1U
#define METHOD_NEEDS_PAGEURL 2U
#define METHOD_NEEDS_PROXY 4U
#define METHOD_NEEDS_IMAGE 8U  /* `file` or `body`, or a text question instead */
#define METHOD_HAS_IMAGES 16U  /* base64 in the image fields stands for its bytes */
#define METHOD_BINDS_PROXY 32U /* answers are bound to the proxy's address: it is identity */
#define METHOD_ALSO_MAX 2
#define METHOD_ONCE_MAX 2

struct method {
    struct slice name;
    enum type type;
    unsigned needs;
    struct slice also[METHOD_ALSO_MAX]; /* further required parameters */
    struct slice once[METHOD_ONCE_MAX]; /* inputs that a site issues for one answer only */
};

/* NULL for an undocumented method, which passes unchecked. */
const struct method *method_find(struct slice name);

/* The method asked for, without surrounding blanks. Some clients name none: then `post` with a file
 * or a text question, `base64` with a body, else SLICE_NONE. */
struct slice method_of(const struct params *params);

#endif
