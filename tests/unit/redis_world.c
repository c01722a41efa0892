#include "redis_world.h"

#include "store/redis/redis_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#define WAIT_MS 20000
#define LOOK_MS 10
#define WORDS_MAX 64
#define COMMAND_MAX 65536

bool redis_find_program(const char *name, char *path, size_t room)
{
    const char *const paths = getenv("PATH");
    for (const char *folder = paths; folder != NULL; folder = strchr(folder, ':')) {
        folder += *folder == ':';
        (void)snprintf(path, room, "%.*s/%s", (int)strcspn(folder, ":"), folder, name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

uint16_t redis_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    const int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(socket_fd >= 0);
    assert_int_equal(bind(socket_fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(socket_fd, (struct sockaddr *)&address, &len), 0);
    (void)close(socket_fd);
    return ntohs(address.sin_port);
}

/* ---- commands ---------------------------------------------------------------------------- */

static struct redis_link *connect_to(const struct redis_server *server)
{
    char why[256] = "";
    struct redis_url url = {.port = 0};
    (void)snprintf(url.path, sizeof(url.path), "%s", server->socket);
    return redis_link_open(&url, NULL, 2000, why, sizeof(why));
}

static struct slice write_words(const char *const *words)
{
    static _Thread_local char command[COMMAND_MAX];
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    int len = snprintf(command, sizeof(command), "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++)
        len += snprintf(command + len, sizeof(command) - (size_t)len, "$%zu\r\n%s\r\n",
                        strlen(words[i]), words[i]);
    return (struct slice){.data = command, .len = (size_t)len};
}

static struct slice write_command(va_list arguments)
{
    const char *words[WORDS_MAX];
    size_t count = 0;
    while (count < WORDS_MAX && (words[count] = va_arg(arguments, const char *)) != NULL)
        count++;
    assert_true(count < WORDS_MAX);
    return write_words(words);
}

static struct redis_reply *exchange(const struct redis_server *server, struct slice command)
{
    struct redis_link *const link = connect_to(server);
    if (link == NULL)
        return NULL;
    struct redis_reply *reply = NULL;
    if (redis_link_send(link, command, WAIT_MS))
        reply = redis_link_receive(link, WAIT_MS);
    redis_link_close(link);
    return reply;
}

static struct redis_reply *run(const struct redis_server *server, va_list words)
{
    return exchange(server, write_command(words));
}

struct redis_reply *redis_ask_words(const struct redis_server *server, const char *const *words)
{
    return exchange(server, write_words(words));
}

struct redis_reply *redis_ask(const struct redis_server *server, ...)
{
    va_list words;
    va_start(words, server);
    struct redis_reply *const reply = run(server, words);
    va_end(words);
    return reply;
}

static void check(const struct redis_reply *reply)
{
    assert_non_null(reply);
    if (reply->type == REPLY_ERROR)
        fail_msg("%s", reply->bytes);
}

void redis_do(const struct redis_server *server, ...)
{
    va_list words;
    va_start(words, server);
    struct redis_reply *const reply = run(server, words);
    va_end(words);
    check(reply);
    redis_reply_free(reply);
}

int64_t redis_number(const struct redis_server *server, ...)
{
    va_list words;
    va_start(words, server);
    struct redis_reply *const reply = run(server, words);
    va_end(words);
    check(reply);
    assert_true(reply->type == REPLY_INTEGER || reply->type == REPLY_ARRAY);
    const int64_t number = reply->type == REPLY_ARRAY ? (int64_t)reply->len : reply->integer;
    redis_reply_free(reply);
    return number;
}

/* ---- the process ------------------------------------------------------------------------- */

static void become(const struct redis_server *server)
{
    char port[16];
    char log[1100];
    const char *words[64];
    size_t count = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)snprintf(port, sizeof(port), "%u", server->port);
    (void)snprintf(log, sizeof(log), "%s/server.log", server->directory);
    const char *const usual[] = {server->program,
                                 "--port",
                                 port,
                                 "--bind",
                                 "127.0.0.1",
                                 "--unixsocket",
                                 server->socket,
                                 "--dir",
                                 server->directory,
                                 "--appendonly",
                                 "yes",
                                 "--appendfsync",
                                 "always",
                                 "--save",
                                 "",
                                 "--logfile",
                                 log,
                                 "--daemonize",
                                 "no",
                                 "--enable-debug-command",
                                 "yes",
                                 "--enable-protected-configs",
                                 "yes",
                                 "--auto-aof-rewrite-percentage",
                                 "0"};
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        words[count++] = usual[i];
    for (size_t i = 0; server->extra[i] != NULL; i++)
        words[count++] = server->extra[i];
    words[count] = NULL;
    union {
        const char **words;
        char *const *argv;
    } all = {.words = words};
    const int nothing = open("/dev/null", O_RDWR);
    (void)dup2(nothing, 0);
    (void)dup2(nothing, 1);
    (void)dup2(nothing, 2);
    (void)close_range(3, ~0U, 0);
    (void)execv(server->program, all.argv);
    _exit(127);
}

void redis_launch(struct redis_server *server)
{
    assert_true(server->process == 0);
    if (server->socket[0] == '\0')
        assert_true((size_t)snprintf(server->socket, sizeof(server->socket), "%s/redis.sock",
                                     server->directory) < sizeof(server->socket));
    (void)fflush(stdout);
    server->process = fork();
    assert_true(server->process >= 0);
    if (server->process == 0)
        become(server);
}

static bool answers(const struct redis_server *server)
{
    struct redis_reply *const reply = redis_ask(server, "PING", NULL);
    const bool is_loading =
        reply != NULL && reply->type == REPLY_ERROR && strncmp(reply->bytes, "LOADING", 7) == 0;
    redis_reply_free(reply);
    return reply != NULL && !is_loading;
}

void redis_wait(struct redis_server *server)
{
    for (unsigned waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
        if (answers(server))
            return;
        if (waitpid(server->process, NULL, WNOHANG) == server->process) {
            server->process = 0;
            fail_msg("%s ended at once; see %s/server.log", server->program, server->directory);
        }
        uv_sleep(LOOK_MS);
    }
    fail_msg("%s does not answer", server->program);
}

void redis_start(struct redis_server *server)
{
    redis_launch(server);
    redis_wait(server);
}

void redis_await_info(const struct redis_server *server, const char *section, const char *line)
{
    for (unsigned waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
        struct redis_reply *const info = strcmp(section, "cluster") == 0
                                             ? redis_ask(server, "CLUSTER", "INFO", NULL)
                                             : redis_ask(server, "INFO", section, NULL);
        const bool is_there =
            info != NULL && info->type == REPLY_STRING && strstr(info->bytes, line) != NULL;
        redis_reply_free(info);
        if (is_there)
            return;
        uv_sleep(LOOK_MS);
    }
    fail_msg("%s does not say %s", server->program, line);
}

/* The bus would listen ten thousand ports higher, where there may be none. */
void redis_start_cluster(struct redis_server *server, bool is_alone)
{
    static _Thread_local char bus[16];
    size_t count = 0;
    while (server->extra[count] != NULL)
        count++;
    assert_true(count + 4 < sizeof(server->extra) / sizeof(server->extra[0]));
    (void)snprintf(bus, sizeof(bus), "%u", redis_free_port());
    server->port = redis_free_port();
    server->extra[count++] = "--cluster-enabled";
    server->extra[count++] = "yes";
    server->extra[count++] = "--cluster-port";
    server->extra[count] = bus;
    redis_start(server);
    if (!is_alone)
        return;
    redis_do(server, "CLUSTER", "ADDSLOTSRANGE", "0", "16383", NULL);
    redis_await_info(server, "cluster", "cluster_state:ok");
}

static void end(struct redis_server *server, int signal)
{
    if (server->process == 0)
        return;
    (void)kill(server->process, signal);
    (void)waitpid(server->process, NULL, 0);
    server->process = 0;
    (void)unlink(server->socket);
}

/* Nothing is gained by waiting for its last sync. */
void redis_stop(struct redis_server *server)
{
    end(server, SIGKILL);
}

void redis_kill(struct redis_server *server)
{
    end(server, SIGKILL);
}

void redis_freeze(const struct redis_server *server)
{
    int status;
    assert_int_equal(kill(server->process, SIGSTOP), 0);
    assert_int_equal(waitpid(server->process, &status, WUNTRACED), server->process);
    assert_true(WIFSTOPPED(status));
}

void redis_thaw(const struct redis_server *server)
{
    assert_int_equal(kill(server->process, SIGCONT), 0);
}
