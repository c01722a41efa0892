/* URLs through libcurl's own parser, so that what we check is what everybody else would dial. */
#ifndef SOLVEGATE_UPSTREAM_URL_H
#define SOLVEGATE_UPSTREAM_URL_H

#include "base/slice.h"

/* Scheme and host lower-cased, default port and fragment dropped, nothing else. Returns the length
 * written, or negative when it is no http or https URL or does not fit. */
long url_normalize(struct slice url, char *out, size_t room);

/* The host alone: lower case, no port, no userinfo, no trailing dot. Returns its length or negative. */
long url_host(struct slice url, char *out, size_t room);

#endif
