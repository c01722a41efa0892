/* The parameter names we know, and the part each plays in identity (docs/design.md 5.1). */
#ifndef SOLVEGATE_PROTO_NAMES_H
#define SOLVEGATE_PROTO_NAMES_H

#include "base/slice.h"

enum name_role {
    NAME_OTHER,     /* not known here: counts exactly as given */
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
    NAME_BOOKKEEPING, /* what clients note beside an image: filename, ext (2captcha-ruby) */
    NAME_FILE,
    NAME_BODY,
    NAME_IMAGE,
    NAME_PICTURE, /* further images: imginstructions, image_base64_1 to 9 */
    NAME_TEXTCAPTCHA,
    NAME_ONCE, /* a site gives it out for one answer, with the methods that say so (method.c) */
    NAME_ROLE_COUNT
};

enum name_role name_role(struct slice name);

/* Whether PHP, which the vendor's doors are made of, could take this other name for one of the
 * transport fields that only we may send: ` key`, `pingback[]`, `soft.id`, `Key`. */
bool name_is_disguised(struct slice name);

#endif
