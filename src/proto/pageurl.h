/* The one form of a page's address: docs/design.md 5.1 lower-cases scheme and host, drops the default
 * port and the fragment, and leaves everything else alone. */
#ifndef SOLVEGATE_PROTO_PAGEURL_H
#define SOLVEGATE_PROTO_PAGEURL_H

#include "base/slice.h"

/* Handles http and https with a plain host name, which is nearly every URL; false for anything
 * that takes a real URL parser (user names, IPv6, IDN, blanks) and for what is no URL.
 * *normal points into url when nothing but its end changes, else into out (room for url.len). */
bool pageurl_normalize(struct slice url, char *out, struct slice *normal);

/* Is this one of the names that methods give the page's address? */
bool pageurl_is_name(struct slice name);

#endif
