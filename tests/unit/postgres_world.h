/* A PostgreSQL server of the tests' own: in its own folder, on a free port, as an unprivileged user, ended with the
 * program. */
#ifndef SOLVEGATE_TESTS_POSTGRES_WORLD_H
#define SOLVEGATE_TESTS_POSTGRES_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The gateway's role; the password must not appear anywhere. */
#define POSTGRES_ROLE "gate"
#define POSTGRES_PASSWORD "canary-7f3a/@:%"
#define POSTGRES_PASSWORD_ESCAPED "canary-7f3a%2F%40%3A%25"
#define POSTGRES_DATABASE "gate"

/* NULL if a server can be started, else what is missing. */
const char *postgres_missing(void);

/* Starts the server unless it runs. The first call makes its folder, a role and a database. */
void postgres_start(void);
/* Ends it by SIGQUIT (at once and without a checkpoint) or SIGKILL; the next start recovers. */
void postgres_kill(int signal);
pid_t postgres_pid(void);
const char *postgres_directory(void); /* also that of its socket */
unsigned postgres_port(void);

/* The URL by the socket, with "&" and more parameters behind it or "". */
void postgres_url(char *url, size_t room, const char *more);

/* A standby of it: made from a backup, and streaming; has all that is written by now, and gets no more; the server is
 * killed and the standby takes its place; ended and removed. */
void postgres_add_standby(void);
void postgres_cut_standby(void);
void postgres_promote_standby(void);
void postgres_drop_standby(void);
/* The URL of both, and of the standby alone. */
void postgres_hosts_url(char *url, size_t room);
void postgres_standby_url(char *url, size_t room);

/* Makes it read its settings again, after ALTER SYSTEM or ALTER ROLE. */
void postgres_reload(void);
/* Speaks TLS from now on, with this certificate and the key beside it. */
void postgres_use_certificate(const char *path);

/* Runs SQL as the superuser, in the gateway's database; fails the test after an error. */
void postgres_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The first column of the first row; 0 if there is none. */
int64_t postgres_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
void postgres_text(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
