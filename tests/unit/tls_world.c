#include "tls_world.h"

#include "seed.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/solvegate-tls-XXXXXX";
static bool has_openssl;

/* ---- certificates ------------------------------------------------------------------------ */

/* The command's exit status; its words are not for TAP. */
static int run(const char *command)
{
    char quiet[1024];
    (void)snprintf(quiet, sizeof(quiet), "cd %s && { %s; } >log 2>&1", dir, command);
    return system(quiet);
}

static bool make_certificate(const char *name, const char *hosts)
{
    static const char make[] =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=solvegate-test -addext subjectAltName=%s -keyout %s.key -out %s.pem";
    char command[512];
    (void)snprintf(command, sizeof(command), make, hosts, name, name);
    return run(command) == 0;
}

int tls_world_open(void **state)
{
    if (seed_announce(state) != 0 || mkdtemp(dir) == NULL)
        return -1;
    has_openssl = make_certificate("right", "DNS:localhost,IP:127.0.0.1") &&
                  make_certificate("wrong", "DNS:elsewhere.example");
    if (!has_openssl)
        print_message("# no usable openssl command: the TLS tests did nothing\n");
    return 0;
}

int tls_world_close(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

bool tls_world_is_usable(void)
{
    return has_openssl;
}

const char *tls_world_path(const char *certificate)
{
    static char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s.pem", dir, certificate);
    return path;
}

/* ---- servers ----------------------------------------------------------------------------- */

/* s_server says "ACCEPT 127.0.0.1:PORT" when it listens. */
static unsigned read_port(int output)
{
    char text[512];
    size_t len = 0;
    unsigned port = 0;
    while (port == 0 && len < sizeof(text) - 1) {
        const ssize_t count = read(output, text + len, sizeof(text) - 1 - len);
        assert_true(count > 0);
        len += (size_t)count;
        text[len] = '\0';
        const char *accept = strstr(text, "ACCEPT ");
        if (accept != NULL && strchr(accept, '\n') != NULL)
            (void)sscanf(accept, "ACCEPT %*[^:]:%u", &port);
    }
    assert_true(port > 0);
    return port;
}

void tls_server_start(struct tls_server *server, const char *certificate, const char *extra)
{
    int input[2];
    int output[2];
    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    char command[512];
    (void)snprintf(command, sizeof(command),
                   "cd %s && exec openssl s_server -accept 127.0.0.1:0 -cert %s.pem -key %s.key %s",
                   dir, certificate, certificate, extra);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        (void)dup2(input[0], 0);
        (void)dup2(output[1], 1);
        (void)dup2(output[1], 2);
        (void)close(input[1]);
        (void)close(output[0]);
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    (void)close(input[0]);
    (void)close(output[1]);
    server->input = input[1];
    server->output = output[0];
    server->port = read_port(output[0]);
}

void tls_server_stop(const struct tls_server *server)
{
    (void)close(server->input);
    (void)close(server->output);
    (void)kill(server->pid, SIGKILL);
    assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
}
