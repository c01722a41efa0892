/* Bytes become requests. */
#ifndef SOLVEGATE_HTTP_HTTP_INPUT_H
#define SOLVEGATE_HTTP_HTTP_INPUT_H

#include "http/http_private.h"

/* Processes received bytes, or with NULL those kept earlier. Replies go to server->out. */
void http_input_take(struct http_conn *conn, char *bytes, size_t len);
void http_input_free(struct http_conn *conn);

/* The most memory that an incomplete request takes. */
uint64_t http_input_most(const struct http_limits *limits);

/* How much of options.partial_bytes large requests may take: all but a share for small ones, yet at
 * least `most`, so that the largest request always fits an empty server. */
uint64_t http_input_most_of_large(const struct http_options *options, uint64_t most);

/* True if there are buffered bytes that were not processed. */
bool http_input_has_more(const struct http_conn *conn);

/* True if a request of known length is all there and waits for its turn: nobody but us is late. */
bool http_input_is_whole(const struct http_conn *conn);

/* True if it is the next request's turn. */
bool http_input_may_take(const struct http_conn *conn);

#endif
