/* Refuses requests that llhttp accepts but that a proxy may have read differently. */
#ifndef SOLVEGATE_HTTP_HTTP_GUARD_H
#define SOLVEGATE_HTTP_HTTP_GUARD_H

#include "http/http_parse.h"

/* The bytes of a request line besides its target: "M-SEARCH", spaces, version and CR LF. */
#define HTTP_LINE_EXTRA_BYTES 64

/* Each returns true if all is well, or sets status and mistake. */

/* Checks a complete header field: its bytes, and that it is not a duplicate. Call it before the
 * field is stored. */
bool http_guard_field(struct http_parse *parse);

/* Checks a complete head: request line, Host, framing, expectations, announced length. */
bool http_guard_head(struct http_parse *parse);

/* At the start of a request, before any byte of it was parsed: returns how many leading bytes to
 * skip (0 or 2), -1 if more bytes are needed to decide, -2 if this cannot become a request. */
int http_guard_lead(const char *bytes, size_t len);

/* Sets status and mistake; returns false so that a check can end with it. */
bool http_guard_refuse(struct http_parse *parse, uint16_t status, const char *mistake);

#endif
