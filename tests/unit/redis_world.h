/* A Redis or Valkey server of a test's own, and what a person does to it with redis-cli. */
#ifndef SOLVEGATE_TESTS_REDIS_WORLD_H
#define SOLVEGATE_TESTS_REDIS_WORLD_H

#include "store/redis/redis_reply.h"
#include "store/redis/redis_url.h"

#include <stdint.h>
#include <sys/types.h>

struct redis_link;

/* False if the machine does not have the program. */
bool redis_find_program(const char *name, char *path, size_t room);

struct redis_server {
    char program[512];
    char directory[1024];
    char socket[108];      /* a connection for the test is always possible there */
    uint16_t port;         /* 0: none */
    const char *extra[16]; /* more of its settings; ends with NULL */
    pid_t process;         /* 0 while it is stopped */
};

/* Starts it in the directory, with a file that it syncs after every command, and waits until it answers. */
void redis_start(struct redis_server *server);
/* The same with a cluster's rules, at a free port; alone it has all slots, else none. */
void redis_start_cluster(struct redis_server *server, bool is_alone);
/* The same as redis_start(), without waiting. */
void redis_launch(struct redis_server *server);
void redis_wait(struct redis_server *server);
/* Waits until it says so; the section "cluster" is CLUSTER INFO. */
void redis_await_info(const struct redis_server *server, const char *section, const char *line);
void redis_stop(struct redis_server *server);
void redis_kill(struct redis_server *server);
/* A port that nobody listens on. */
uint16_t redis_free_port(void);

/* Runs a command, the words of which end with NULL. The reply is the caller's. */
struct redis_reply *redis_ask(const struct redis_server *server, ...) __attribute__((sentinel));
struct redis_reply *redis_ask_words(const struct redis_server *server, const char *const *words);
/* The same; fails the test unless the reply is no error. */
void redis_do(const struct redis_server *server, ...) __attribute__((sentinel));
int64_t redis_number(const struct redis_server *server, ...) __attribute__((sentinel));

/* The kernel goes on accepting connections and bytes, and nobody answers; it has begun when this returns. */
void redis_freeze(const struct redis_server *server);
void redis_thaw(const struct redis_server *server);

#endif
