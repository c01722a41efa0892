/* Heads of replies as bytes. */
#ifndef SOLVEGATE_HTTP_HTTP_HEAD_H
#define SOLVEGATE_HTTP_HTTP_HEAD_H

#include "http/http_private.h"

void http_head_format(struct http_server *server, struct buf *out,
                      const struct http_exchange *exchange, const struct http_reply *reply,
                      bool closes);

#endif
