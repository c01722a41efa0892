/* Deadlines, and the end of a turn. */
#ifndef SOLVEGATE_HTTP_HTTP_CLOCK_H
#define SOLVEGATE_HTTP_HTTP_CLOCK_H

#include "http/http_private.h"

void http_clock_open(struct http_server *server);
void http_clock_close(struct http_server *server, uv_close_cb on_closed);
void http_clock_set(struct http_conn *conn, enum http_due kind);
void http_clock_clear(struct http_conn *conn);
/* Resumes listeners that wait for the reserve at this time. */
void http_clock_set_crowd(struct http_server *server, uint64_t due_ms);
/* Has the connection handled before the loop sleeps. */
void http_clock_touch(struct http_conn *conn);
/* Checks for passed deadlines in this turn and the next ones. */
void http_clock_expire(struct http_server *server);
/* Ends the current poll. */
void http_clock_cut(struct http_server *server);
/* True if this turn of the loop has used up its time. */
bool http_clock_is_late(struct http_server *server);

#endif
