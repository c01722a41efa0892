/* Replies become bytes, held back or dripped if a fault says so. */
#ifndef SOLVEGATE_SIM_HTTP_WRITE_H
#define SOLVEGATE_SIM_HTTP_WRITE_H

#include "sim/http_private.h"

/* Appends the reply to server->out or starts another delivery; true if parsing must stop. */
bool conn_deliver(struct conn *conn, const struct http_reply *reply, bool is_head);

/* Writes server->out; queues what the socket does not take. */
void conn_flush(struct conn *conn);

/* Sends the held reply. */
void conn_send_held(struct conn *conn);
void conn_drip(struct conn *conn);
void conn_render(struct conn *conn, const struct http_reply *reply, struct buf *out, bool is_head);

#endif
