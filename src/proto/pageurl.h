/* The canonical form of a page's URL: docs/design.md 5.1 lower-cases scheme and host, drops the
 * default port and the fragment, and leaves everything else unchanged. */
#ifndef SOLVEGATE_PROTO_PAGEURL_H
#define SOLVEGATE_PROTO_PAGEURL_H

#include "base/slice.h"

/* Handles http and https with a plain host name, which is nearly every URL. Returns false for URLs
 * that need a real parser (user names, IPv6, IDN, blanks) and for text that is not a URL. *normal
 * points into url if only its end changes, else into out (room for url.len). */
bool pageurl_normalize(struct slice url, char *out, struct slice *normal);

/* RFC 1035: the longest name in text form. */
#define PAGEURL_HOST_MAX 253

/* Writes the host in lower case and returns its length; 0 for URLs that pageurl_normalize refuses
 * and for longer names. */
size_t pageurl_host(struct slice url, char out[PAGEURL_HOST_MAX]);
/* The same as it stands in the URL, or nothing. */
struct slice pageurl_find_host(struct slice url);

/* Is this one of the parameter names for the page's URL? */
bool pageurl_is_name(struct slice name);

#endif
