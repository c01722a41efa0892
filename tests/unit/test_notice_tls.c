#include "notice_world.h"
#include "seed.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The receiver is the openssl command, which answers every GET with 200 when it is told -www. */

static char dir[] = "/tmp/solvegate-notice-XXXXXX";
static bool has_openssl;

static int run(const char *command)
{
    char quiet[1024];
    (void)snprintf(quiet, sizeof(quiet), "cd %s && { %s; } >log 2>&1", dir, command);
    return system(quiet);
}

static int make_certificates(void **state)
{
    if (seed_announce(state) != 0 || mkdtemp(dir) == NULL)
        return -1;
    static const char make[] =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=solvegate-test -addext subjectAltName=%s -keyout %s.key -out %s.pem";
    char command[512];
    (void)snprintf(command, sizeof(command), make, "DNS:localhost", "right", "right");
    has_openssl = run("openssl version") == 0 && run(command) == 0;
    (void)snprintf(command, sizeof(command), make, "DNS:elsewhere.example", "wrong", "wrong");
    has_openssl = has_openssl && run(command) == 0;
    if (!has_openssl)
        print_message("# no usable openssl command: the TLS tests did nothing\n");
    return 0;
}

static int remove_certificates(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

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

static pid_t start_server(const char *name, unsigned *port)
{
    int output[2];
    assert_int_equal(pipe(output), 0);
    char command[512];
    (void)snprintf(command, sizeof(command),
                   "cd %s && exec openssl s_server -accept 127.0.0.1:0 -cert %s.pem -key %s.key "
                   "-www",
                   dir, name, name);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(output[1], 1);
        (void)dup2(output[1], 2);
        (void)close(output[0]);
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    (void)close(output[1]);
    *port = read_port(output[0]);
    (void)close(output[0]);
    return pid;
}

static void unused(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

/* A notice to a server with that certificate, trusting that one (or the system's for NULL). */
static void expect_end(const char *certificate, const char *trusted, bool is_delivered,
                       const char *why)
{
    if (!has_openssl)
        return;
    struct notice_world *world = notice_world_new(unused);
    const pid_t server = start_server(certificate, &world->port);
    char ca_file[128], url[64];
    (void)snprintf(ca_file, sizeof(ca_file), "%s/%s.pem", dir, trusted == NULL ? "" : trusted);
    world->options.ca_file = trusted == NULL ? "" : ca_file;
    world->allow[1].port = (uint16_t)world->port; /* localhost */
    notice_world_connect(world);
    (void)snprintf(url, sizeof(url), "https://localhost:%u/", world->port);
    assert_true(notices_send(world->notices, 5, slice_from(url), SLICE_OF("a")));
    notice_world_run_until(world, 1);
    (void)kill(server, SIGKILL);
    assert_int_equal(waitpid(server, NULL, 0), server);
    notice_world_expect(world, 0, 5, is_delivered, why);
    notice_world_free(world);
}

static void a_trusted_receiver_is_told(void **state)
{
    (void)state;
    expect_end("right", "right", true, "http_200");
}

static void a_receiver_that_nobody_vouches_for_is_told_nothing(void **state)
{
    (void)state;
    expect_end("right", NULL, false, "tls_failed");
    expect_end("right", "wrong", false, "tls_failed");
}

static void a_certificate_of_another_host_is_refused(void **state)
{
    (void)state;
    expect_end("wrong", "wrong", false, "tls_failed");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trusted_receiver_is_told),
        cmocka_unit_test(a_receiver_that_nobody_vouches_for_is_told_nothing),
        cmocka_unit_test(a_certificate_of_another_host_is_refused),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
