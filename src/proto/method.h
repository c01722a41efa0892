/* What is known of each `method`: its captcha, and what it cannot do without (PROTOCOL.md 1a, 1b). */
#ifndef SOLVEGATE_PROTO_METHOD_H
#define SOLVEGATE_PROTO_METHOD_H

#include <solvegate/types.h>

#define METHOD_NEEDS_SITEKEY 1U
#define METHOD_NEEDS_PAGEURL 2U
#define METHOD_NEEDS_PROXY 4U /* the answer is bound to the egress address: the proxy is identity */
#define METHOD_NEEDS_IMAGE 8U /* `file` or `body`, or a text question instead */
#define METHOD_HAS_IMAGES 16U /* base64 in the image fields stands for its bytes */
#define METHOD_ALSO_MAX 4

struct method {
    struct slice name;
    enum captcha captcha;
    unsigned needs;
    struct slice also[METHOD_ALSO_MAX]; /* further parameters it cannot do without */
};

/* NULL for a method nobody documented; those pass untouched. */
const struct method *method_find(struct slice name);

#endif
