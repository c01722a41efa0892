#include "postgres_world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <limits.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SQL_MAX 65536
#define START_SECONDS 60
#define ARGUMENTS_MAX 16

static struct {
    char programs[PATH_MAX / 4]; /* the folder of initdb and postgres */
    char directory[PATH_MAX / 4];
    unsigned port;
    pid_t pid; /* 0: not running */
    unsigned standby_port;
    pid_t standby; /* 0: there is none */
    pid_t parent;  /* who started it and may end it */
    PGconn *admin;
} server;

/* ---- programs ---------------------------------------------------------------------------- */

const char *postgres_missing(void)
{
    glob_t found = {0};
    if (server.programs[0] == '\0' &&
        glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0 && found.gl_pathc > 0) {
        const char *const newest = found.gl_pathv[found.gl_pathc - 1];
        (void)snprintf(server.programs, sizeof(server.programs), "%.*s",
                       (int)(strlen(newest) - strlen("/postgres")), newest);
    }
    globfree(&found);
    return server.programs[0] == '\0' ? "no PostgreSQL server is installed (./dev setup test)"
                                      : NULL;
}

/* PostgreSQL refuses to run as root. */
static const struct passwd *user(void)
{
    const struct passwd *const found = getpwnam("postgres");
    return found != NULL ? found : getpwnam("nobody");
}

static void give_up_root(void)
{
    if (geteuid() != 0)
        return;
    const struct passwd *const name = user();
    if (name == NULL || setgroups(0, NULL) != 0 || setgid(name->pw_gid) != 0 ||
        setuid(name->pw_uid) != 0)
        _exit(126);
}

static pid_t spawn(const char *const arguments[])
{
    char program[PATH_MAX];
    char output[PATH_MAX];
    (void)snprintf(program, sizeof(program), "%s/%s", server.programs, arguments[0]);
    (void)snprintf(output, sizeof(output), "%s/log", server.directory);
    (void)fflush(NULL);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0)
        return child;
    give_up_root();
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
    const int log = open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (getppid() != parent || log < 0 || chdir(server.directory) != 0)
        _exit(126);
    (void)dup2(log, STDOUT_FILENO);
    (void)dup2(log, STDERR_FILENO);
    (void)setenv("LC_ALL", "C", 1);
    (void)unsetenv("LD_PRELOAD");
    /* These programs look for each other where their own name says that they are. */
    const char *words[ARGUMENTS_MAX] = {program};
    for (size_t i = 1; i < ARGUMENTS_MAX - 1 && arguments[i] != NULL; i++)
        words[i] = arguments[i];
    union {
        const char *const *borrowed;
        char *const *wanted;
    } list = {.borrowed = words};
    (void)execv(program, list.wanted);
    _exit(127);
}

static void tell_log(void)
{
    char path[PATH_MAX];
    char line[512];
    (void)snprintf(path, sizeof(path), "%s/log", server.directory);
    FILE *const log = fopen(path, "r");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL)
        (void)fprintf(stderr, "postgres: %s", line);
    if (log != NULL)
        (void)fclose(log);
}

/* ---- the folder -------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    return remove(path);
}

static void end(void)
{
    if (server.parent != getpid())
        return;
    PQfinish(server.admin);
    server.admin = NULL;
    postgres_drop_standby();
    if (server.pid > 0) {
        (void)kill(server.pid, SIGQUIT);
        (void)waitpid(server.pid, NULL, 0);
    }
    (void)nftw(server.directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", server.directory, name);
    FILE *const file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(void)
{
    const char *const base = getenv("TMPDIR");
    (void)snprintf(server.directory, sizeof(server.directory), "%s/solvegate-pg-XXXXXX",
                   base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(server.directory));
    server.parent = getpid();
    assert_int_equal(atexit(end), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(server.directory, user()->pw_uid, user()->pw_gid), 0);
    server.port = free_port();
}

static void make_cluster(void)
{
    char data[PATH_MAX];
    char settings[PATH_MAX];
    (void)snprintf(data, sizeof(data), "%s/data", server.directory);
    const char *const arguments[] = {"initdb",
                                     "--no-sync",
                                     "--auth=trust",
                                     "--username=postgres",
                                     "--encoding=UTF8",
                                     "--locale=C",
                                     "--pgdata",
                                     data,
                                     NULL};
    const pid_t child = spawn(arguments);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        tell_log();
    assert_int_equal(status, 0);
    (void)snprintf(settings, sizeof(settings),
                   "port = %u\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '%s'\n"
                   "max_connections = 30\nshared_buffers = 16MB\nmax_wal_size = 256MB\n"
                   "logging_collector = off\nmax_wal_senders = 2\n",
                   server.port, server.directory);
    write_file("data/postgresql.conf", settings);
}

/* ---- running ----------------------------------------------------------------------------- */

static PGconn *connect_port(unsigned port, const char *database)
{
    /* Neither a standby that a test has invented nor a lock may hang the program. */
    static const char options[] =
        "-c client_min_messages=warning -c synchronous_commit=local -c lock_timeout=30s";
    char info[PATH_MAX];
    (void)snprintf(info, sizeof(info), "host=%s port=%u user=postgres dbname=%s options='%s'",
                   server.directory, port, database, options);
    return PQconnectdb(info);
}

static PGconn *connect_admin(const char *database)
{
    return connect_port(server.port, database);
}

static void launch(void)
{
    char data[PATH_MAX];
    (void)snprintf(data, sizeof(data), "%s/data", server.directory);
    const char *const arguments[] = {"postgres", "-D", data, NULL};
    server.pid = spawn(arguments);
}

/* After SIGKILL the first start may find processes that have not noticed it yet, and ends. */
static void wait_until_ready(void)
{
    for (unsigned i = 0; i < START_SECONDS * 50; i++) {
        PGconn *const conn = connect_admin("postgres");
        const bool is_ready = PQstatus(conn) == CONNECTION_OK;
        PQfinish(conn);
        if (is_ready)
            return;
        (void)usleep(20000);
        if (waitpid(server.pid, NULL, WNOHANG) == server.pid)
            launch();
    }
    tell_log();
    fail_msg("the PostgreSQL server does not start");
}

static void run_in(const char *database, const char *sql)
{
    PGconn *const conn = connect_admin(database);
    PGresult *const result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s", PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

/* Only the gateway's role has to prove who it is. */
static void make_role(void)
{
    run_in("postgres", "SET password_encryption = 'scram-sha-256'; CREATE ROLE " POSTGRES_ROLE
                       " LOGIN PASSWORD '" POSTGRES_PASSWORD "'");
    run_in("postgres", "CREATE DATABASE " POSTGRES_DATABASE " OWNER " POSTGRES_ROLE);
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/data/pg_hba.conf", server.directory);
    assert_int_equal(truncate(path, 0), 0);
    write_file("data/pg_hba.conf",
               "local all,replication postgres trust\nlocal all all scram-sha-256\n"
               "host all all 127.0.0.1/32 scram-sha-256\n");
    run_in("postgres", "DO $$ BEGIN PERFORM pg_reload_conf(); END $$");
}

void postgres_start(void)
{
    if (server.pid > 0)
        return;
    assert_null(postgres_missing());
    const bool is_first = server.directory[0] == '\0';
    if (is_first) {
        make_folder();
        make_cluster();
    }
    launch();
    wait_until_ready();
    if (is_first)
        make_role();
}

void postgres_kill(int signal)
{
    assert_true(server.pid > 0);
    PQfinish(server.admin);
    server.admin = NULL;
    assert_int_equal(kill(server.pid, signal), 0);
    assert_int_equal(waitpid(server.pid, NULL, 0), server.pid);
    server.pid = 0;
}

pid_t postgres_pid(void)
{
    return server.pid;
}

const char *postgres_directory(void)
{
    return server.directory;
}

unsigned postgres_port(void)
{
    return server.port;
}

void postgres_url(char *url, size_t room, const char *more)
{
    (void)snprintf(url, room, "postgresql://%s:%s@/%s?host=%s&port=%u%s", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, POSTGRES_DATABASE, server.directory, server.port,
                   more);
}

void postgres_reload(void)
{
    const int64_t before = postgres_number("SELECT extract(epoch FROM pg_conf_load_time()) * 1e6");
    postgres_run("SELECT pg_reload_conf()");
    for (unsigned i = 0; i < 500; i++) {
        if (postgres_number("SELECT extract(epoch FROM pg_conf_load_time()) * 1e6") != before)
            return;
        (void)usleep(10000);
    }
    fail_msg("the server did not read its settings again");
}

static void install(const char *from, const char *name)
{
    char to[PATH_MAX];
    char inside[64];
    char text[16384];
    FILE *const source = fopen(from, "r");
    assert_non_null(source);
    const size_t len = fread(text, 1, sizeof(text) - 1, source);
    text[len] = '\0';
    (void)fclose(source);
    (void)snprintf(to, sizeof(to), "%s/data/%s", server.directory, name);
    (void)unlink(to);
    (void)snprintf(inside, sizeof(inside), "data/%s", name);
    write_file(inside, text);
    assert_int_equal(chmod(to, 0600), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(to, user()->pw_uid, user()->pw_gid), 0);
}

void postgres_use_certificate(const char *path)
{
    char key[PATH_MAX];
    install(path, "server.crt");
    (void)snprintf(key, sizeof(key), "%.*s.key", (int)(strlen(path) - strlen(".pem")), path);
    install(key, "server.key");
    postgres_run("ALTER SYSTEM SET ssl = on");
    postgres_reload();
}

/* ---- a standby --------------------------------------------------------------------------- */

static void copy_cluster(const char *data)
{
    char port[16];
    int status = -1;
    (void)snprintf(port, sizeof(port), "%u", server.port);
    const char *const arguments[] = {"pg_basebackup",
                                     "-h",
                                     server.directory,
                                     "-p",
                                     port,
                                     "-U",
                                     "postgres",
                                     "-D",
                                     data,
                                     "-R",
                                     "--no-sync",
                                     "--checkpoint=fast",
                                     NULL};
    const pid_t child = spawn(arguments);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        tell_log();
    assert_int_equal(status, 0);
}

static bool standby_says(const char *sql)
{
    PGconn *const conn = connect_port(server.standby_port, "postgres");
    PGresult *const result = PQexec(conn, sql);
    const bool is_so = PQntuples(result) == 1 && strcmp(PQgetvalue(result, 0, 0), "t") == 0;
    PQclear(result);
    PQfinish(conn);
    return is_so;
}

static void await_standby(const char *sql)
{
    for (unsigned i = 0; i < START_SECONDS * 50; i++) {
        if (standby_says(sql))
            return;
        (void)usleep(20000);
    }
    tell_log();
    fail_msg("the standby does not say so: %s", sql);
}

void postgres_add_standby(void)
{
    char data[PATH_MAX];
    char port[64];
    postgres_drop_standby();
    (void)snprintf(data, sizeof(data), "%s/standby", server.directory);
    copy_cluster(data);
    server.standby_port = free_port();
    (void)snprintf(port, sizeof(port), "port = %u\n", server.standby_port);
    write_file("standby/postgresql.conf", port);
    const char *const arguments[] = {"postgres", "-D", data, NULL};
    server.standby = spawn(arguments);
    await_standby("SELECT count(*) = 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'");
}

void postgres_cut_standby(void)
{
    char has_all[128], here[64];
    postgres_text(here, sizeof(here), "SELECT pg_current_wal_flush_lsn()");
    (void)snprintf(has_all, sizeof(has_all), "SELECT pg_last_wal_replay_lsn() >= '%s'", here);
    await_standby(has_all);
    write_file("standby/postgresql.auto.conf", "primary_conninfo = ''\n");
    await_standby("SELECT pg_reload_conf()");
    await_standby("SELECT count(*) = 0 FROM pg_stat_wal_receiver");
}

void postgres_promote_standby(void)
{
    postgres_kill(SIGKILL);
    await_standby("SELECT pg_promote()");
}

void postgres_drop_standby(void)
{
    char data[PATH_MAX];
    if (server.standby <= 0)
        return;
    (void)kill(server.standby, SIGQUIT);
    (void)waitpid(server.standby, NULL, 0);
    server.standby = 0;
    (void)snprintf(data, sizeof(data), "%s/standby", server.directory);
    (void)nftw(data, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void postgres_hosts_url(char *url, size_t room)
{
    (void)snprintf(url, room, "postgresql://%s:%s@/%s?host=%s,%s&port=%u,%u", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, POSTGRES_DATABASE, server.directory, server.directory,
                   server.port, server.standby_port);
}

void postgres_standby_url(char *url, size_t room)
{
    (void)snprintf(url, room, "postgresql://%s:%s@/%s?host=%s&port=%u", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, POSTGRES_DATABASE, server.directory,
                   server.standby_port);
}

/* ---- as the superuser -------------------------------------------------------------------- */

__attribute__((format(printf, 1, 0))) static PGresult *ask(const char *format, va_list arguments)
{
    static char sql[SQL_MAX];
    assert_true(vsnprintf(sql, sizeof(sql), format, arguments) < SQL_MAX);
    if (server.admin == NULL)
        server.admin = connect_admin(POSTGRES_DATABASE);
    PGresult *const result = PQexec(server.admin, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s\n%s", sql, PQerrorMessage(server.admin));
    return result;
}

void postgres_run(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PQclear(ask(format, arguments));
    va_end(arguments);
}

int64_t postgres_number(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PGresult *const result = ask(format, arguments);
    va_end(arguments);
    const int64_t number = PQntuples(result) > 0 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return number;
}

void postgres_text(char *text, size_t room, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PGresult *const result = ask(format, arguments);
    va_end(arguments);
    (void)snprintf(text, room, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
}
