/* The known parameter names, and the role of each in identity (docs/design.md 5.1). */
#ifndef SOLVEGATE_PROTO_NAMES_H
#define SOLVEGATE_PROTO_NAMES_H

#include "base/slice.h"

enum name_role {
    NAME_OTHER,     /* unknown: counts exactly as given */
    NAME_TRANSPORT, /* about the call, not about the captcha */
    NAME_METHOD,
    NAME_SITEKEY, /* sitekey and googlekey are one field */
    NAME_GOOGLEKEY,
    NAME_PAGEURL,
    NAME_USER_AGENT, /* userAgent and useragent are one field */
    NAME_USERAGENT,
    NAME_PROXY,
    NAME_PROXYTYPE,
    NAME_FLAG, /* invisible, enterprise: false equals absence */
    NAME_VERSION,
    NAME_OPTION,      /* of image recognition: 0 equals absence */
    NAME_BOOKKEEPING, /* clients' notes about an image: filename, ext (2captcha-ruby) */
    NAME_FILE,
    NAME_BODY,
    NAME_IMAGE,
    NAME_PICTURE, /* further images: imginstructions, image_base64_1 to 9 */
    NAME_TEXTCAPTCHA,
    NAME_ONCE, /* issued by a site for one answer, with the methods that say so (method.c) */
    NAME_ROLE_COUNT
};

enum name_role name_role(struct slice name);

/* Could PHP, which the vendor's servers run, read this other name as one of the transport fields
 * that only we may send? Examples: ` key`, `pingback[]`, `soft.id`, `Key`. */
bool name_is_disguised(struct slice name);

#endif
