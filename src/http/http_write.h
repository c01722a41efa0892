/* Bytes to sockets. */
#ifndef SOLVEGATE_HTTP_HTTP_WRITE_H
#define SOLVEGATE_HTTP_HTTP_WRITE_H

#include "http/http_private.h"

/* The buffer for the next bytes of this connection. */
struct buf *http_write_sink(struct http_conn *conn);
/* False if the connection broke and was closed. */
bool http_write_flush(struct http_conn *conn);
/* True if the peer took enough since the mark. Moves the mark. */
bool http_write_has_progress(const struct http_outbox *outbox, uint64_t *mark);
/* For a connection that closes: frees all bytes except those that libuv still has. */
void http_write_forget(struct http_conn *conn);
void http_write_free(struct http_conn *conn);
size_t http_write_queued(const struct http_conn *conn);

#endif
