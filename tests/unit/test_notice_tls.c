#include "notice_world.h"
#include "seed.h"
#include "tls_world.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void unused(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

/* A notice to a server with that certificate, trusting that one (or the system's for NULL). With -www
 * it answers every GET with 200. */
static void expect_end(const char *certificate, const char *trusted, bool is_delivered,
                       const char *why)
{
    if (!tls_world_is_usable())
        return;
    struct notice_world *world = notice_world_new(unused);
    struct tls_server server;
    tls_server_start(&server, certificate, "-www");
    world->port = server.port;
    char url[64];
    world->options.ca_file = trusted == NULL ? NULL : tls_world_path(trusted);
    world->allow[1].port = (uint16_t)world->port; /* localhost */
    notice_world_connect(world);
    (void)snprintf(url, sizeof(url), "https://localhost:%u/", world->port);
    assert_true(notices_send(world->notices, 5, slice_from(url), SLICE_OF("a")));
    notice_world_run_until(world, 1);
    tls_server_stop(&server);
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
    return cmocka_run_group_tests(tests, tls_world_open, tls_world_close);
}
