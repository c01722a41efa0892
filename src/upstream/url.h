/* Parses URLs with libcurl, so that we check the URL as it will be used. */
#ifndef SOLVEGATE_UPSTREAM_URL_H
#define SOLVEGATE_UPSTREAM_URL_H

#include "base/slice.h"

/* Lower-cases scheme and host and drops default port and fragment, nothing else. Returns the length
 * written, or a negative number if it is not an http or https URL or does not fit. */
long url_normalize(struct slice url, char *out, size_t room);

/* The host alone: lower case, no port, no userinfo, no trailing dot. Returns its length or negative. */
long url_host(struct slice url, char *out, size_t room);

#endif
