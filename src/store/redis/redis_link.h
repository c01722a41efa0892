/* A connection to the server, plain, by TLS or through a unix socket. Every call blocks, but never longer than wait_ms
 * without a byte from or to the server. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_LINK_H
#define SOLVEGATE_STORE_REDIS_REDIS_LINK_H

#include "store/redis/redis_reply.h"
#include "store/redis/redis_url.h"

struct redis_link;

/* NULL, with a few words in why, if there is no connection in time or the certificate is wrong. Needs
 * curl_global_init(). */
struct redis_link *redis_link_open(const struct redis_url *url, const char *ca_file,
                                   unsigned wait_ms, char *why, size_t room);
void redis_link_close(struct redis_link *link);

/* Both say in a few words why they failed; the connection is of no use then. */
bool redis_link_send(struct redis_link *link, struct slice bytes, unsigned wait_ms);
struct redis_reply *redis_link_receive(struct redis_link *link, unsigned wait_ms);
/* Waits until a reply is there, the file descriptor can be read or the time is over; false: the connection is of no
 * use any more. *reply is the caller's, or NULL. */
bool redis_link_hear(struct redis_link *link, int fd, int timeout_ms, struct redis_reply **reply);
const char *redis_link_why(const struct redis_link *link);

#endif
