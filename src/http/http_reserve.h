/* Connections beyond the cap. */
#ifndef SOLVEGATE_HTTP_HTTP_RESERVE_H
#define SOLVEGATE_HTTP_HTTP_RESERVE_H

#include "http/http_private.h"

/* Closes an idle connection to make room for a new one; false if there is none. */
bool http_reserve_make_room(struct http_server *server);

/* Closes a connection beyond the cap to make room for a new one; false if none has been silent for
 * long enough: then listening resumes as soon as one has. */
bool http_reserve_push_out(struct http_server *server);

enum http_reserve_verdict { HTTP_RESERVE_UNSURE, HTTP_RESERVE_MINE, HTTP_RESERVE_OTHER };

/* Examines the next bytes of a connection beyond the cap until the verdict is certain. */
enum http_reserve_verdict http_reserve_judge(struct http_conn *conn, const char *bytes, size_t len);

#endif
