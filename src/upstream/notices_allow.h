/* Whether an address may be told: the operator's rules about callers' addresses. */
#ifndef SOLVEGATE_UPSTREAM_NOTICES_ALLOW_H
#define SOLVEGATE_UPSTREAM_NOTICES_ALLOW_H

#include "upstream/notices.h"

/* For the doors, before they accept a request: true if we would send a notice to this URL.
 * Otherwise *why becomes a sentence for the caller, which contains no part of the URL. */
bool notices_allows(const struct notices_options *options, struct slice url, const char **why);

#endif
