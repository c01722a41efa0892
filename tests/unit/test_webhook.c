#include "fake_vendor.h"
#include "seed.h"
#include "sys/log.h"
#include "upstream/webhook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define STUCK_AFTER_MS 20000

struct hook_world {
    uv_loop_t loop;
    uv_timer_t watchdog;
    bool is_stuck;
    struct fake_vendor receiver;
    struct webhook *webhook;
    char last[1024];
};

static void on_stuck(uv_timer_t *timer)
{
    struct hook_world *world = timer->data;
    world->is_stuck = true;
}

static struct hook_world *open_world(fake_script script)
{
    struct hook_world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    assert_int_equal(uv_loop_init(&world->loop), 0);
    (void)uv_timer_init(&world->loop, &world->watchdog);
    world->watchdog.data = world;
    (void)uv_timer_start(&world->watchdog, on_stuck, STUCK_AFTER_MS, 0);
    fake_vendor_open(&world->receiver, &world->loop, script);
    world->receiver.context = world;
    char url[128];
    (void)snprintf(url, sizeof(url), "%s/hook", world->receiver.url);
    world->webhook = webhook_new(&world->loop, url);
    assert_non_null(world->webhook);
    return world;
}

static void run_until_asked(struct hook_world *world, uint32_t requests)
{
    while (world->receiver.requests < requests && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
}

/* As the gate does it: close, run the loop to its end, free. */
static void close_world(struct hook_world *world)
{
    webhook_close(world->webhook);
    webhook_close(world->webhook); /* once more does no harm */
    webhook_alert(world->webhook, &(struct alert){.kind = ALERT_LETTERS});
    fake_vendor_close(&world->receiver);
    uv_close((uv_handle_t *)&world->watchdog, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    webhook_free(world->webhook);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    free(world);
}

static void keep(struct fake_conn *conn, struct slice request)
{
    struct hook_world *world = conn->vendor->context;
    (void)snprintf(world->last, sizeof(world->last), "%.*s", (int)request.len, request.data);
}

static void answer_200(struct fake_conn *conn, struct slice request)
{
    keep(conn, request);
    fake_answer(conn, "OK");
}

static void fail_twice(struct fake_conn *conn, struct slice request)
{
    keep(conn, request);
    if (conn->vendor->requests < 3)
        fake_answer_with(conn, "503 Soon", "", SLICE_OF(""));
    else
        fake_answer(conn, "OK");
}

static void hang(struct fake_conn *conn, struct slice request)
{
    keep(conn, request);
}

static void an_alert_is_posted_as_json(void **state)
{
    (void)state;
    struct hook_world *world = open_world(answer_200);
    webhook_alert(world->webhook, &(struct alert){.kind = ALERT_LETTERS, .count = 11});
    run_until_asked(world, 1);
    static const char line[] = "POST /hook HTTP/1.1\r\n";
    assert_memory_equal(world->last, line, sizeof(line) - 1);
    assert_non_null(strstr(world->last, "\r\nContent-Type: application/json\r\n"));
    assert_null(strstr(world->last, "Expect"));
    assert_non_null(strstr(world->last, "\r\n\r\n{\"alert\":\"letters_growing\",\"time\":"));
    assert_non_null(strstr(world->last, "\"letters\":11}"));
    close_world(world);
}

static void an_alert_is_tried_again_with_pauses(void **state)
{
    (void)state;
    struct hook_world *world = open_world(fail_twice);
    const uint64_t start_ms = uv_now(&world->loop);
    webhook_alert(world->webhook, &(struct alert){.kind = ALERT_BREAKER_CLOSED});
    run_until_asked(world, 2);
    assert_in_range(uv_now(&world->loop) - start_ms, 950, 30000);
    run_until_asked(world, 3);
    assert_in_range(uv_now(&world->loop) - start_ms, 2950, 30000);
    assert_non_null(strstr(world->last, "{\"alert\":\"breaker_closed\""));
    close_world(world);
}

static void a_few_alerts_go_at_once_and_more_are_dropped(void **state)
{
    (void)state;
    struct hook_world *world = open_world(hang);
    for (int i = 0; i < 6; i++)
        webhook_alert(world->webhook, &(struct alert){.kind = ALERT_OTHER_SOLUTION});
    run_until_asked(world, 4);
    for (int i = 0; i < 20; i++)
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    assert_int_equal(world->receiver.requests, 4);
    close_world(world);
}

/* How long it takes to close while a receiver does not answer, or pauses between two tries. */
static uint64_t closing_ms(fake_script script)
{
    struct hook_world *world = open_world(script);
    webhook_alert(world->webhook, &(struct alert){.kind = ALERT_LETTERS});
    run_until_asked(world, 1);
    for (int i = 0; i < 20; i++)
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    const uint64_t start_ns = uv_hrtime();
    close_world(world);
    return (uv_hrtime() - start_ns) / 1000000;
}

/* A busy machine is late now and then; who waits for the end of a second does so every time. */
static void closing_does_not_wait_for_a_receiver_or_a_pause(void **state)
{
    (void)state;
    const fake_script scripts[] = {hang, fail_twice};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        uint64_t shortest = UINT64_MAX;
        for (int try = 0; try < 5 && shortest > 900; try++) {
            const uint64_t took = closing_ms(scripts[i]);
            shortest = took < shortest ? took : shortest;
        }
        assert_in_range(shortest, 0, 900);
    }
}

static void without_a_url_there_is_no_webhook(void **state)
{
    (void)state;
    assert_null(webhook_new(NULL, NULL));
    webhook_alert(NULL, &(struct alert){.kind = ALERT_LETTERS});
    webhook_close(NULL);
    webhook_free(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alert_is_posted_as_json),
        cmocka_unit_test(an_alert_is_tried_again_with_pauses),
        cmocka_unit_test(a_few_alerts_go_at_once_and_more_are_dropped),
        cmocka_unit_test(closing_does_not_wait_for_a_receiver_or_a_pause),
        cmocka_unit_test(without_a_url_there_is_no_webhook),
    };
    log_init(LOG_LEVEL_ERROR, LOG_FORMAT_KEY_VALUE);
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
