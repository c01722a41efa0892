/* Bytes become requests. */
#ifndef SOLVEGATE_SIM_HTTP_PARSE_H
#define SOLVEGATE_SIM_HTTP_PARSE_H

#include "sim/http_private.h"

/* http_parse.c */
void conn_settings_init(llhttp_settings_t *settings);
void conn_parser_init(struct conn *conn);
void conn_parser_close(struct conn *conn);

/* Feeds bytes to the parser, serves complete requests, keeps the bytes that follow a held reply's
 * request. */
void conn_feed(struct conn *conn, const char *data, size_t len);

#endif
