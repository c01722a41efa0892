/* The limit of all unsent replies together. */
#ifndef SOLVEGATE_HTTP_HTTP_UNSENT_H
#define SOLVEGATE_HTTP_HTTP_UNSENT_H

#include "http/http_private.h"

void http_unsent_open(struct http_server *server);
/* Counts the connection's unsent bytes; above the limit the connections with the most are closed,
 * perhaps this one. */
void http_unsent_settle(struct http_conn *conn);
/* For a connection that closes. */
void http_unsent_clear(struct http_conn *conn);

#endif
