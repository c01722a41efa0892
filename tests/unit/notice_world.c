#include "notice_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define STUCK_AFTER_MS 60000

static void on_end(void *context, uint64_t id, bool is_delivered, const char *why)
{
    struct notice_world *world = context;
    assert_true(world->end_count < ENDS_MAX);
    struct notice_end *end = &world->ends[world->end_count++];
    *end = (struct notice_end){.id = id, .is_delivered = is_delivered};
    (void)snprintf(end->why, sizeof(end->why), "%s", why);
    if (world->on_end != NULL)
        world->on_end(world);
    uv_stop(&world->loop); /* else a turn whose timers brought it would go on to wait for I/O */
}

static void on_stuck(uv_timer_t *timer)
{
    struct notice_world *world = timer->data;
    world->is_stuck = true;
}

static void allow(struct notice_world *world, const char *host)
{
    struct notice_host *hook = &world->allow[world->options.allow_count++];
    (void)snprintf(hook->host, sizeof(hook->host), "%s", host);
    hook->port = (uint16_t)world->port;
}

struct notice_world *notice_world_new(fake_script script)
{
    struct notice_world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    assert_int_equal(uv_loop_init(&world->loop), 0);
    (void)uv_timer_init(&world->loop, &world->watchdog);
    world->watchdog.data = world;
    (void)uv_timer_start(&world->watchdog, on_stuck, STUCK_AFTER_MS, 0);
    fake_vendor_open(&world->receiver, &world->loop, script);
    world->receiver.context = world;
    assert_int_equal(sscanf(world->receiver.url, "http://127.0.0.1:%u", &world->port), 1);
    world->options = (struct notices_options){
        .allow = world->allow, .allow_private = true, .timeout_ms = 20000, .connections = 4};
    allow(world, "127.0.0.1");
    allow(world, "localhost");
    allow(world, "[::1]");
    allow(world, "*.example");
    return world;
}

void notice_world_connect(struct notice_world *world)
{
    struct buf mistake;
    buf_init(&mistake, 1024);
    world->notices = notices_new(&world->loop, &world->options, on_end, world, &mistake);
    assert_int_equal(mistake.len, 0);
    assert_non_null(world->notices);
    buf_close(&mistake);
}

static void on_notices_closed(void *context)
{
    struct notice_world *world = context;
    world->is_closed = true;
}

void notice_world_close_notices(struct notice_world *world)
{
    notices_close(world->notices, on_notices_closed, world);
    world->notices = NULL;
}

void notice_world_free(struct notice_world *world)
{
    if (world->notices != NULL)
        notice_world_close_notices(world);
    while (!world->is_closed && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
    fake_vendor_close(&world->receiver);
    uv_close((uv_handle_t *)&world->watchdog, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    free(world);
}

bool notice_world_send(struct notice_world *world, uint64_t id, const char *host, const char *path,
                       const char *code)
{
    char url[NOTICE_URL_MAX];
    (void)snprintf(url, sizeof(url), "http://%s:%u%s", host, world->port, path);
    return notices_send(world->notices, id, slice_from(url), slice_from(code));
}

void notice_world_run_until(struct notice_world *world, size_t end_count)
{
    while (world->end_count < end_count && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
}

void notice_world_run_until_asked(struct notice_world *world, uint32_t request_count)
{
    while (world->receiver.requests < request_count && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
}

void notice_world_expect(const struct notice_world *world, size_t place, uint64_t id,
                         bool is_delivered, const char *why)
{
    assert_true(place < world->end_count);
    assert_string_equal(world->ends[place].why, why);
    assert_int_equal(world->ends[place].is_delivered, is_delivered);
    assert_int_equal(world->ends[place].id, id);
}
