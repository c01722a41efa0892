/*
 * The timer wheel against libuv's timer heap.
 *
 * libuv takes its time from clock_gettime() and waits in epoll_pwait(). Both are replaced here, so
 * that hours pass at once and not one system call is charged to libuv. Both kinds of timer sit
 * inside items of equal size, as they would inside flights, and get the same random numbers.
 */
#include "base/assert.h"
#include "base/rand.h"
#include "base/wheel.h"
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include <uv.h>

#define ITEM_BYTES 256
#define REARMS 500000
#define FIRES 300000
#define PLAN 1048576 /* a power of two */

struct wheel_item {
    struct wheel_timer timer;
    char rest[ITEM_BYTES - sizeof(struct wheel_timer)];
};

struct uv_item {
    uv_timer_t timer;
    char rest[ITEM_BYTES - sizeof(uv_timer_t)];
};

struct world {
    size_t size;
    struct wheel wheel;
    struct wheel_item *ours;
    uv_loop_t loop;
    struct uv_item *theirs;
    uint32_t *delays_ms; /* PLAN of them */
    uint32_t *picks;     /* PLAN of them, below size */
    size_t our_at;       /* where each side is in the plan */
    size_t their_at;
    size_t fired;
};

static uint64_t fake_now_ms = 1000;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = (time_t)(fake_now_ms / 1000);
    now->tv_nsec = (long)(fake_now_ms % 1000) * 1000000;
    return 0;
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    (void)epoll, (void)events, (void)most, (void)timeout, (void)mask;
    return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
    return epoll_pwait(epoll, events, most, timeout, NULL);
}

static uint32_t next_delay(const struct world *world, size_t *at)
{
    return world->delays_ms[(*at)++ % PLAN];
}

static double rearm_ours(void *context)
{
    struct world *world = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < REARMS; i++) {
        struct wheel_item *item = &world->ours[world->picks[world->our_at % PLAN]];
        const uint64_t due_ms = world->wheel.now_ms + next_delay(world, &world->our_at);
        wheel_cancel(&world->wheel, &item->timer);
        wheel_arm(&world->wheel, &item->timer, due_ms);
    }
    return bench_per_op(started_ns, REARMS);
}

static void on_fire(uv_timer_t *timer)
{
    struct world *world = timer->data;
    world->fired++;
    (void)uv_timer_start(timer, on_fire, next_delay(world, &world->their_at), 0);
}

static double rearm_theirs(void *context)
{
    struct world *world = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < REARMS; i++) {
        struct uv_item *item = &world->theirs[world->picks[world->their_at % PLAN]];
        const uint64_t delay_ms = next_delay(world, &world->their_at);
        (void)uv_timer_stop(&item->timer);
        (void)uv_timer_start(&item->timer, on_fire, delay_ms, 0);
    }
    return bench_per_op(started_ns, REARMS);
}

/* Sleeps until the next deadline, fires what is due, arms it again: what an event loop does. */
static double fire_ours(void *context)
{
    struct world *world = context;
    struct wheel *wheel = &world->wheel;
    size_t fired = 0;
    const uint64_t started_ns = bench_now_ns();
    while (fired < FIRES) {
        wheel_advance(wheel, wheel_next_ms(wheel), UINT32_MAX);
        struct wheel_timer *timer;
        while ((timer = wheel_pop(wheel)) != NULL) {
            wheel_arm(wheel, timer, wheel->now_ms + next_delay(world, &world->our_at));
            fired++;
        }
    }
    return bench_per_op(started_ns, fired);
}

static double fire_theirs(void *context)
{
    struct world *world = context;
    world->fired = 0;
    const uint64_t started_ns = bench_now_ns();
    while (world->fired < FIRES) {
        fake_now_ms += (uint64_t)uv_backend_timeout(&world->loop);
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    }
    return bench_per_op(started_ns, world->fired);
}

static void open_world(struct world *world, size_t size)
{
    struct rand rand;
    rand_init(&rand, size);
    world->size = size;
    world->ours = bench_alloc(size, sizeof(*world->ours));
    world->theirs = bench_alloc(size, sizeof(*world->theirs));
    world->delays_ms = bench_alloc(PLAN, sizeof(*world->delays_ms));
    world->picks = bench_alloc(PLAN, sizeof(*world->picks));
    world->our_at = world->their_at = 0;
    for (size_t i = 0; i < PLAN; i++) {
        world->delays_ms[i] = (uint32_t)(1000 + rand_below(&rand, 119001));
        world->picks[i] = (uint32_t)rand_below(&rand, size);
    }
    wheel_init(&world->wheel, fake_now_ms);
    ASSERT(uv_loop_init(&world->loop) == 0);
    for (size_t i = 0; i < size; i++) {
        wheel_timer_init(&world->ours[i].timer, 0);
        wheel_arm(&world->wheel, &world->ours[i].timer, fake_now_ms + world->delays_ms[i]);
        (void)uv_timer_init(&world->loop, &world->theirs[i].timer);
        world->theirs[i].timer.data = world;
        (void)uv_timer_start(&world->theirs[i].timer, on_fire, world->delays_ms[i], 0);
    }
}

static void close_world(struct world *world)
{
    for (size_t i = 0; i < world->size; i++)
        uv_close((uv_handle_t *)&world->theirs[i].timer, NULL);
    (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    ASSERT(uv_loop_close(&world->loop) == 0);
    ASSERT(world->wheel.count == world->size);
    wheel_check(&world->wheel);
    free(world->ours);
    free(world->theirs);
    free(world->delays_ms);
    free(world->picks);
}

int main(void)
{
    static const size_t sizes[] = {1000, 10000, 100000};
    static struct world world;
    bench_print_header();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        open_world(&world, sizes[i]);
        bench_compare(&(struct bench_pair){.operation = "wheel re-arm",
                                           .size = sizes[i],
                                           .rival = "uv_timer",
                                           .context = &world,
                                           .ours = rearm_ours,
                                           .theirs = rearm_theirs,
                                           .target = sizes[i] == 100000 ? 3.0 : 0});
        bench_compare(&(struct bench_pair){.operation = "wheel fire and re-arm",
                                           .size = sizes[i],
                                           .rival = "uv_timer",
                                           .context = &world,
                                           .ours = fire_ours,
                                           .theirs = fire_theirs});
        close_world(&world);
    }
    return bench_finish();
}
