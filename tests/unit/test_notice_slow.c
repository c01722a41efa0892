#include "notice_world.h"
#include "seed.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void drip(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_drip(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
}

static void hang(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

static void expect_timeout(fake_script script)
{
    struct notice_world *world = notice_world_new(script);
    world->options.timeout_ms = 300;
    notice_world_connect(world);
    const uint64_t start_ms = uv_now(&world->loop);
    assert_true(notice_world_send(world, 7, "127.0.0.1", "/", "token"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 7, false, "timeout");
    assert_in_range(uv_now(&world->loop) - start_ms, 290, 30000);
    notice_world_free(world);
}

static void a_slow_receiver_is_given_up(void **state)
{
    (void)state;
    expect_timeout(hang);
    expect_timeout(drip);
}

/* Wakes nap() and what comes of the reply in one turn, in this order. */
static void reply_before_a_nap(struct fake_conn *conn, struct slice request)
{
    (void)request;
    struct notice_world *world = conn->vendor->context;
    assert_int_equal(uv_async_send(&world->napper), 0);
    fake_drip(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
}

static void nap(uv_async_t *async)
{
    (void)async;
    uv_sleep(500);
}

/* libcurl looks at the clock, and the loop's time is as old as its turn: on a busy machine the former says
 * that it is over while the latter says that it is not. */
static void a_receiver_that_is_slow_within_one_turn_is_slow_and_not_broken(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(reply_before_a_nap);
    world->options.timeout_ms = 300;
    (void)uv_async_init(&world->loop, &world->napper, nap);
    notice_world_connect(world);
    assert_true(notice_world_send(world, 7, "127.0.0.1", "/", "token"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 7, false, "timeout");
    uv_close((uv_handle_t *)&world->napper, NULL);
    notice_world_free(world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_receiver_is_given_up),
        cmocka_unit_test(a_receiver_that_is_slow_within_one_turn_is_slow_and_not_broken),
    };
    /* The receiver writes on after we hung up. */
    (void)signal(SIGPIPE, SIG_IGN);
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
