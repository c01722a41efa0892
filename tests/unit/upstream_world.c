#include "upstream_world.h"

#include "proto/form.h"
#include "proto/pack.h"
#include "proto/params.h"
#include "upstream/upstream_life.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define STUCK_AFTER_MS 60000

static int64_t wall_ms(void)
{
    return (int64_t)time(NULL) * 1000;
}

static void keep(struct world *world, bool is_submit, const struct vendor_result *result)
{
    assert_true(world->result_count < WORLD_RESULTS_MAX);
    struct world_result *kept = &world->results[world->result_count++];
    kept->is_submit = is_submit;
    kept->result = *result;
    const struct slice text = blob_slice(result->text);
    (void)snprintf(kept->text, sizeof(kept->text), "%.*s", (int)text.len, text.data);
    if (world->on_result != NULL)
        world->on_result(world);
    uv_stop(&world->loop); /* else a turn whose timers brought it would go on to wait for I/O */
}

static void on_submitted(void *context, const struct vendor_result *result)
{
    keep(context, true, result);
}

static void on_polled(void *context, const struct vendor_result *result)
{
    keep(context, false, result);
}

static void on_probed(void *context, const struct probed *probed)
{
    struct world *world = context;
    world->probed = *probed;
    world->probed_count++;
    uv_stop(&world->loop);
}

static void on_stuck(uv_timer_t *timer)
{
    struct world *world = timer->data;
    world->is_stuck = true;
}

struct world *world_new(fake_script script)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    assert_int_equal(uv_loop_init(&world->loop), 0);
    (void)uv_timer_init(&world->loop, &world->watchdog);
    world->watchdog.data = world;
    (void)uv_timer_start(&world->watchdog, on_stuck, STUCK_AFTER_MS, 0);
    fake_vendor_open(&world->vendor, &world->loop, script);
    world->vendor.context = world;
    world->options = (struct upstream_options){
        .protocol = &vendor_captchaai,
        .url = world->vendor.url,
        .key = "0123456789abcdef0123456789abcdef",
        .user_agent = "solvegate-test",
        .http2 = true,
        .connections = 8,
        .queue = 10000,
        .connect_timeout_ms = 20000,
        .submit_timeout_ms = 20000,
        .poll_timeout_ms = 20000,
        .wall_ms = wall_ms,
    };
    return world;
}

void world_connect(struct world *world)
{
    const struct upstream_handlers handlers = {
        .context = world,
        .on_submitted = on_submitted,
        .on_polled = on_polled,
        .on_probed = on_probed,
    };
    struct buf mistake;
    buf_init(&mistake, 1024);
    world->upstream = upstream_new(&world->loop, &world->options, &handlers, &mistake);
    assert_int_equal(mistake.len, 0);
    assert_non_null(world->upstream);
    buf_close(&mistake);
}

static void on_upstream_closed(void *context)
{
    struct world *world = context;
    world->is_upstream_closed = true;
}

void world_free(struct world *world)
{
    if (world->upstream != NULL) {
        upstream_close(world->upstream, on_upstream_closed, world);
        while (!world->is_upstream_closed && !world->is_stuck)
            (void)uv_run(&world->loop, UV_RUN_ONCE);
        assert_false(world->is_stuck);
        upstream_free(world->upstream);
    }
    fake_vendor_close(&world->vendor);
    uv_close((uv_handle_t *)&world->watchdog, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    free(world);
}

void world_submit(struct world *world, attempt_id attempt)
{
    struct params params;
    params_init(&params, 4096);
    assert_int_equal(
        params_add_form(&params,
                        SLICE_OF("method=userrecaptcha&googlekey=abc&pageurl=https://a.b/")),
        0);
    struct blob *packed = params_pack(&params);
    params_close(&params);
    upstream_submit(world->upstream, attempt, packed, SLICE_OF("https://gate/pingback/x"));
    blob_unref(packed);
}

void world_poll(struct world *world, attempt_id attempt)
{
    upstream_poll(world->upstream, attempt, SLICE_OF("2122988149"));
}

void world_run_until(struct world *world, uint32_t result_count)
{
    while (world->result_count < result_count && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
}

void world_run_until_probed(struct world *world)
{
    while (world->probed_count == 0 && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
}

void world_run_until_asked(struct world *world, uint32_t request_count)
{
    while (world->vendor.requests < request_count && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_false(world->is_stuck);
}

static void on_while_over(uv_timer_t *timer)
{
    bool *is_over = timer->data;
    *is_over = true;
}

void world_run_for(struct world *world, uint64_t ms)
{
    uv_timer_t timer;
    bool is_over = false;
    (void)uv_timer_init(&world->loop, &timer);
    timer.data = &is_over;
    (void)uv_timer_start(&timer, on_while_over, ms, 0);
    while (!is_over)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    (void)uv_run(&world->loop, UV_RUN_NOWAIT);
}

void assert_result(const struct world_result *kept, enum outcome outcome, enum error_class class,
                   const char *code)
{
    assert_int_equal(kept->result.outcome, outcome);
    assert_int_equal(kept->result.class, class);
    assert_string_equal(kept->result.code, code);
}
