#include "seed.h"
#include "upstream_world.h"

#include <dlfcn.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A loop that waits for the lookup stands still for all of it, a busy machine for less. */
#define SLOW_MS 6000
#define LONGEST_STALL_MS 4500

static atomic_int lookups_begun, lookups_ended;

/* libcurl's resolver threads land here, because a program's own function goes before the
 * library's. */
int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict result)
{
    typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (node != NULL && strcmp(node, "slow.example") == 0) {
        atomic_fetch_add(&lookups_begun, 1);
        uv_sleep(SLOW_MS);
        atomic_fetch_add(&lookups_ended, 1);
        return EAI_AGAIN;
    }
    lookup real;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof(real)); /* ISO C has no cast between the two kinds of pointers */
    return real(node, service, hints, result);
}

static void unused(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

struct pulse {
    uv_timer_t timer;
    uint64_t last_ms, longest_ms;
};

static void on_pulse(uv_timer_t *timer)
{
    struct pulse *pulse = timer->data;
    uv_update_time(timer->loop);
    const uint64_t now = uv_now(timer->loop);
    if (now - pulse->last_ms > pulse->longest_ms)
        pulse->longest_ms = now - pulse->last_ms;
    pulse->last_ms = now;
}

static void start_pulse(struct pulse *pulse, struct world *world)
{
    (void)uv_timer_init(&world->loop, &pulse->timer);
    pulse->timer.data = pulse;
    pulse->last_ms = uv_now(&world->loop);
    pulse->longest_ms = 0;
    (void)uv_timer_start(&pulse->timer, on_pulse, 10, 10);
}

static void wait_for_threads(void)
{
    for (int i = 0; i < 6000 && atomic_load(&lookups_begun) != atomic_load(&lookups_ended); i++)
        uv_sleep(10);
    uv_sleep(50); /* the thread frees what it holds after the lookup */
}

static void a_name_server_that_hangs_never_stops_the_loop(void **state)
{
    (void)state;
    struct world *world = world_new(unused);
    struct pulse pulse;
    world->options.url = "https://slow.example";
    world->options.connect_timeout_ms = 200;
    world_connect(world);
    start_pulse(&pulse, world);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_true(atomic_load(&lookups_begun) > atomic_load(&lookups_ended));
    for (int i = 0; i < 2; i++)
        assert_int_equal(world->results[i].result.outcome,
                         world->results[i].is_submit ? OUTCOME_NOT_SENT : OUTCOME_UNHEARD);
    world_run_for(world, 50);
    assert_in_range(pulse.longest_ms, 0, LONGEST_STALL_MS);
    uv_close((uv_handle_t *)&pulse.timer, NULL);
    world_free(world);
    wait_for_threads();
}

static void closing_during_a_lookup_does_not_wait_for_it(void **state)
{
    (void)state;
    struct world *world = world_new(unused);
    world->options.url = "https://slow.example";
    world_connect(world);
    world_submit(world, 1);
    const int before = atomic_load(&lookups_begun);
    while (atomic_load(&lookups_begun) == before)
        world_run_for(world, 10);
    const uint64_t start_ns = uv_hrtime();
    world_free(world);
    assert_in_range((uv_hrtime() - start_ns) / 1000000, 0, LONGEST_STALL_MS);
    wait_for_threads();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_server_that_hangs_never_stops_the_loop),
        cmocka_unit_test(closing_during_a_lookup_does_not_wait_for_it),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
