/* The server's handles. */
#ifndef SOLVEGATE_HTTP_HTTP_SERVER_H
#define SOLVEGATE_HTTP_HTTP_SERVER_H

#include "http/http_private.h"

void http_server_count_closed(struct http_server *server);

#endif
