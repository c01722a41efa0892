#include "seed.h"
#include "upstream_world.h"

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

/* A TLS server is what the openssl command makes of it: it takes connections and never answers.
 * That is enough, since the question is whether a byte of our request was sent. */

static char dir[] = "/tmp/solvegate-tls-XXXXXX";
static bool has_openssl;

struct tls_server {
    pid_t pid;
    int input; /* kept open, since it ends with its input */
    char url[64];
};

/* The command's exit status; its words are not for TAP. */
static int run(const char *command)
{
    char quiet[1024];
    (void)snprintf(quiet, sizeof(quiet), "cd %s && { %s; } >log 2>&1", dir, command);
    return system(quiet);
}

static const char *path_of(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static int make_certificates(void **state)
{
    if (seed_announce(state) != 0 || mkdtemp(dir) == NULL)
        return -1;
    static const char make[] =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=solvegate-test -addext subjectAltName=%s -keyout %s.key -out %s.pem";
    char command[512];
    (void)snprintf(command, sizeof(command), make, "IP:127.0.0.1", "right", "right");
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
static void wait_for_port(struct tls_server *server, int output)
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
    (void)snprintf(server->url, sizeof(server->url), "https://127.0.0.1:%u", port);
}

static void start_server(struct tls_server *server, const char *name, const char *extra)
{
    int input[2];
    int output[2];
    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    char command[512];
    (void)snprintf(command, sizeof(command),
                   "cd %s && exec openssl s_server -accept 127.0.0.1:0 -cert %s.pem -key %s.key %s",
                   dir, name, name, extra);
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
    wait_for_port(server, output[0]);
    (void)close(output[0]);
}

static void stop_server(const struct tls_server *server)
{
    (void)close(server->input);
    (void)kill(server->pid, SIGKILL);
    assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
}

static void unused(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

static enum outcome outcome_against(const char *name, const char *extra, const char *ca_file)
{
    struct tls_server server;
    start_server(&server, name, extra);
    struct world *world = world_new(unused);
    world->options.url = server.url;
    world->options.ca_file = ca_file;
    world->options.submit_timeout_ms = 1000;
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    const enum outcome outcome = world->results[0].result.outcome;
    world_free(world);
    stop_server(&server);
    return outcome;
}

static void a_trusted_certificate_lets_the_submit_out(void **state)
{
    (void)state;
    if (has_openssl)
        assert_int_equal(outcome_against("right", "", path_of("right.pem")), OUTCOME_AMBIGUOUS);
}

static void an_untrusted_certificate_is_proof_that_nothing_was_sent(void **state)
{
    (void)state;
    if (has_openssl)
        assert_int_equal(outcome_against("right", "", NULL), OUTCOME_NOT_SENT);
}

static void a_certificate_of_another_authority_is_refused(void **state)
{
    (void)state;
    if (has_openssl)
        assert_int_equal(outcome_against("right", "", path_of("wrong.pem")), OUTCOME_NOT_SENT);
}

static void a_certificate_for_another_name_is_refused(void **state)
{
    (void)state;
    if (has_openssl)
        assert_int_equal(outcome_against("wrong", "", path_of("wrong.pem")), OUTCOME_NOT_SENT);
}

static void tls_below_1_2_is_refused(void **state)
{
    (void)state;
    if (has_openssl)
        assert_int_equal(
            outcome_against("right", "-tls1_1 -cipher DEFAULT@SECLEVEL=0", path_of("right.pem")),
            OUTCOME_NOT_SENT);
}

static void speak_plainly(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_answer(conn, "{\"status\":1,\"request\":\"1\"}");
}

static void a_server_without_tls_learns_nothing(void **state)
{
    (void)state;
    struct world *world = world_new(speak_plainly);
    char url[80];
    (void)snprintf(url, sizeof(url), "https%s", world->vendor.url + strlen("http"));
    world->options.url = url;
    world->options.connect_timeout_ms = 300;
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    assert_int_equal(world->results[0].result.outcome, OUTCOME_NOT_SENT);
    assert_int_equal(world->vendor.requests, 0);
    world_free(world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trusted_certificate_lets_the_submit_out),
        cmocka_unit_test(an_untrusted_certificate_is_proof_that_nothing_was_sent),
        cmocka_unit_test(a_certificate_of_another_authority_is_refused),
        cmocka_unit_test(a_certificate_for_another_name_is_refused),
        cmocka_unit_test(tls_below_1_2_is_refused),
        cmocka_unit_test(a_server_without_tls_learns_nothing),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
