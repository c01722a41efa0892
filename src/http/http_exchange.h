/* Requests out, replies in, in order. */
#ifndef SOLVEGATE_HTTP_HTTP_EXCHANGE_H
#define SOLVEGATE_HTTP_HTTP_EXCHANGE_H

#include "http/http_private.h"

void http_exchange_begin(struct http_conn *conn, const struct http_parse *parse, const char *base);
struct http_exchange *http_exchange_add(struct http_conn *conn);
void http_exchange_answer(struct http_conn *conn, struct http_exchange *exchange,
                          const struct http_reply *reply);
/* Drops all exchanges and tells the handler about those that were not answered. */
void http_exchange_drop(struct http_conn *conn);

/* Sends 100 Continue for an announced body, if the peer asked for it and it is its turn. */
void http_exchange_continue(struct http_conn *conn);

#endif
