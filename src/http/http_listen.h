/* Listeners and the connection cap. */
#ifndef SOLVEGATE_HTTP_HTTP_LISTEN_H
#define SOLVEGATE_HTTP_HTTP_LISTEN_H

#include "http/http_private.h"

void http_listen_resume(struct http_server *server);
void http_listen_close(struct http_server *server);

#endif
