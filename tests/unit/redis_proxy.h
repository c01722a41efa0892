/* Stands between the driver and its server: cuts connections in the middle, holds bytes back, remembers replies, and
 * plays them to others. */
#ifndef SOLVEGATE_TESTS_REDIS_PROXY_H
#define SOLVEGATE_TESTS_REDIS_PROXY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#define PROXY_PAIRS 16

struct redis_proxy {
    char path[108];   /* of its socket */
    char target[108]; /* of the server's */
    /* Set by the test at any time. */
    atomic_long cut_commands; /* bytes to the server until the connection is cut; negative: never */
    atomic_long cut_replies;  /* the same from the server */
    atomic_bool must_hold;    /* what present connections send stays here until this ends */
    /* Bytes that every connection gets, and nothing else, before it is closed; NULL: it is a proxy. */
    const char *script;
    size_t script_len;
    size_t script_times; /* how often they are sent */
    char
        token[160]; /* in the script: replaced by the name that the client gives itself; "": none */
    char commands[512]; /* the first that were sent */
    size_t commands_len;
    /* All replies so far; read it when the proxy has ended. */
    char *replies; /* owned */
    size_t replies_len;

    /* Its own. */
    int listener;
    uv_thread_t thread;
    atomic_bool must_end;
    struct redis_pair {
        int client, server; /* -1: closed */
        bool is_held;
    } pairs[PROXY_PAIRS];
};

void redis_proxy_start(struct redis_proxy *proxy);
void redis_proxy_stop(struct redis_proxy *proxy);
void redis_proxy_free(struct redis_proxy *proxy);

#endif
