/* The canonical form of a page's URL: docs/design.md 5.1 lower-cases scheme and host, drops the
 * default port and the fragment, and leaves everything else unchanged. */
#ifndef SOLVEGATE_PROTO_PAGEURL_H
#define SOLVEGATE_PROTO_PAGEURL_H

#include "base/slice.h"

/* Handles http and https with a plain host name, which is nearly every URL. Returns false for URLs
 * that need a real parser (user names, IPv6, IDN, blanks) and for text that is not a URL. *normal
 * points into url if only its end changes, else into out (room for url.len). */
bool pageurl_normalize(struct slice url, char *out, struct slice *normal);

/* Is this one of the parameter names for the page's URL? */
bool pageurl_is_name(struct slice name);

#endif
