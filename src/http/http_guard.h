/* What llhttp lets through and we do not: every ambiguity that a proxy may have read differently. */
#ifndef SOLVEGATE_HTTP_HTTP_GUARD_H
#define SOLVEGATE_HTTP_HTTP_GUARD_H

#include "http/http_parse.h"

/* "M-SEARCH", spaces, version and CR LF: what a request line has besides its target. */
#define HTTP_LINE_EXTRA_BYTES 64

/* Each returns true when all is well, or sets status and mistake. */

/* A header field's value is complete: its bytes, its repetition. Called before it is remembered. */
bool http_guard_field(struct http_parse *parse);

/* The head is complete: request line, Host, framing, expectations, announced length. */
bool http_guard_head(struct http_parse *parse);

/* At the start of a request, before any byte of it was parsed: how many leading bytes to skip
 * (0 or 2), -1 when more bytes are needed to tell, -2 when this cannot become a request. */
int http_guard_lead(const char *bytes, size_t len);

/* Sets status and mistake; returns false so that a check can end with it. */
bool http_guard_refuse(struct http_parse *parse, uint16_t status, const char *mistake);

#endif
