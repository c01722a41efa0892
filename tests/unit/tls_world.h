/* Certificates and TLS servers, as the openssl command makes them. */
#ifndef SOLVEGATE_TESTS_TLS_WORLD_H
#define SOLVEGATE_TESTS_TLS_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

/* Setup and teardown of a group of tests: two certificates that sign themselves, "right" for this
 * machine and "wrong" for elsewhere.example. Announces the seed, too. */
int tls_world_open(void **state);
int tls_world_close(void **state);

/* False without a usable openssl command, which the setup has said: then tests do nothing. */
bool tls_world_is_usable(void);

/* The certificate's file, until the next call. */
const char *tls_world_path(const char *certificate);

/* Takes connections and, unless told otherwise, never answers. */
struct tls_server {
    pid_t pid;
    int input;  /* kept open, since it ends with its input */
    int output; /* the same, since a word nobody hears would end it */
    unsigned port;
};

/* On 127.0.0.1; extra are more options of `openssl s_server`. */
void tls_server_start(struct tls_server *server, const char *certificate, const char *extra);
void tls_server_stop(const struct tls_server *server);

#endif
