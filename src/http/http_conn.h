/* The life of a connection. */
#ifndef SOLVEGATE_HTTP_HTTP_CONN_H
#define SOLVEGATE_HTTP_HTTP_CONN_H

#include "http/http_private.h"

/* Takes the connection that libuv accepted for the listener. */
void http_conn_accept(struct http_listener *listener, bool is_reserve);

/* Detaches every exchange, tells the handler, and closes. Idempotent. */
void http_conn_close(struct http_conn *conn);

/* While draining: has it never sent a request? Its caller cannot know that we end, and finds nobody to
 * connect to again until our successor listens, so it gets HTTP_FIRST_MS to send one. */
bool http_conn_is_new(const struct http_conn *conn);

/* Did bytes arrive that there was no time to read yet? Their sender is not slow. */
bool http_conn_has_unread(const struct http_conn *conn);

/* Answers with our own refusal, after the replies ahead of it, and stops reading. */
void http_conn_refuse(struct http_conn *conn, uint16_t status, const char *mistake);
/* As http_conn_refuse, for a request whose line may be parsed: its path may have a dialect. */
void http_conn_refuse_request(struct http_conn *conn, const struct http_parse *parse,
                              const char *base, uint16_t status, const char *mistake);

/* Call it after any event: takes further requests if it is their turn, writes, then updates
 * reading, deadline and end of the connection. */
void http_conn_settle(struct http_conn *conn);

#endif
