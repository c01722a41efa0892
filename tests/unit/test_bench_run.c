#include "cli/bench_run.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cmocka.h>

/* A server that takes connections and says nothing: requests stay in flight until their time is up. */
static int silent_server(char url[64])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 128), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(url, 64, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    return fd;
}

struct seen {
    uint64_t states;
    uint64_t most;    /* in flight */
    uint64_t too_far; /* states with more in flight than the ramp had room for by then */
};

static void on_state(void *context, const struct bench_state *state)
{
    struct seen *const seen = context;
    const struct bench_plan *const plan = state->plan;
    seen->states++;
    seen->most = state->in_flight > seen->most ? state->in_flight : seen->most;
    if (plan->ramp_ms > 0 &&
        state->in_flight > plan->concurrency * state->elapsed_ns / (plan->ramp_ms * 1000000) + 1)
        seen->too_far++;
}

static struct seen run_plan(const struct bench_plan *plan, uint64_t in_flight_max,
                            struct bench_tally *tally, struct bench_end *end)
{
    const struct bench_talk talk = {.plan = plan, .key = ""};
    struct seen seen = {.states = 0};
    struct buf mistake;
    char url[64];
    const int fd = silent_server(url);
    const struct bench_run_setup setup = {.plan = plan,
                                          .talk = &talk,
                                          .tally = tally,
                                          .url = url,
                                          .in_flight_max = in_flight_max,
                                          .on_state = on_state,
                                          .context = &seen};
    buf_init(&mistake, 512);
    assert_true(bench_run(&setup, end, &mistake));
    buf_close(&mistake);
    (void)close(fd);
    return seen;
}

static void an_open_loop_tells_when_too_many_were_in_flight(void **state)
{
    const struct bench_plan plan = {
        .method = "turnstile", .steps = {1000}, .step_count = 1, .requests = 20, .wait_ms = 300};
    struct bench_tally *const tally = bench_tally_new();
    struct bench_end end;
    (void)state;
    struct seen seen = run_plan(&plan, 5, tally, &end);
    assert_true(end.was_full && seen.states > 0);
    assert_true(seen.most <= 5);
    assert_int_equal(tally->sent, 20);
    (void)run_plan(&plan, 20, tally, &end);
    assert_false(end.was_full);
    assert_int_equal(tally->sent, 40);
    /* Twenty of a thousand a second are a load of 20 ms. */
    assert_int_equal(end.load_ns, 20000000);
    assert_int_equal(end.solved_ns, 0);
    bench_tally_free(tally);
}

/* However late the loop is, there are never more than the ramp has room for, and in the end all. */
static void a_closed_loop_grows_with_its_ramp(void **state)
{
    const struct bench_plan plan = {
        .method = "turnstile", .concurrency = 30, .requests = 30, .ramp_ms = 1000, .wait_ms = 1500};
    struct bench_tally *const tally = bench_tally_new();
    struct bench_end end;
    (void)state;
    const struct seen seen = run_plan(&plan, 0, tally, &end);
    assert_true(seen.states > 2);
    assert_int_equal(seen.too_far, 0);
    assert_int_equal(tally->sent, 30);
    assert_false(end.was_full);
    bench_tally_free(tally);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_loop_tells_when_too_many_were_in_flight),
        cmocka_unit_test(a_closed_loop_grows_with_its_ramp),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
