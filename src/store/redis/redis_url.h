/* The URLs of Redis and Valkey: where the server listens, and who we are there. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_URL_H
#define SOLVEGATE_STORE_REDIS_REDIS_URL_H

#include "base/buf.h"

#include <stdint.h>

#define REDIS_URL_HOST_MAX 256
#define REDIS_URL_PATH_MAX 108 /* of a socket: struct sockaddr_un has no room for more */

struct redis_url {
    char host[REDIS_URL_HOST_MAX]; /* without brackets; "" for a socket */
    char path[REDIS_URL_PATH_MAX]; /* of a unix socket, or "" */
    uint16_t port;
    uint32_t db;
    bool is_tls;
    char *user;     /* owned, or NULL: the server's default user */
    char *password; /* owned, or NULL; kept out of core files */
};

/* The schemes that it knows; ends with NULL. */
extern const char *const redis_url_schemes[];

/* Reads redis://[[user]:password@]host[:port][/db], the same with rediss, valkey or valkeys, or
 * redis+unix://[[user]:password@]/path[?db=N]. False adds a sentence that quotes nothing of the URL, since any part
 * of a wrong one may be the password. Close it in both cases. */
bool redis_url_read(const char *text, struct redis_url *url, struct buf *mistake);
void redis_url_close(struct redis_url *url);

/* "host:port" or the socket's path. */
void redis_url_place(const struct redis_url *url, char *place, size_t room);

#endif
