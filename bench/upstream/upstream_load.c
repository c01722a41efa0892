/* Keeps a number of polls, or submits, outstanding against a vendor for a while, and says what they cost.
 *
 *     upstream-load URL TASK-ID OUTSTANDING CONNECTIONS SECONDS [CERTIFICATES]
 *
 * With "submit" as the task's id each call is a submit, with a callback's address as the gateway sends it.
 * Prints one line of JSON. The start, while connections open, is not counted, but for the longest
 * turn of the loop, in processor time: connections that open all at once are what makes it long. */
#include "upstream/upstream.h"

#include "base/assert.h"
#include "proto/form.h"
#include "proto/pack.h"
#include "upstream/upstream_life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <uv.h>

struct load {
    uv_loop_t loop;
    uv_timer_t timer;
    struct upstream *upstream;
    const char *task_id;
    struct blob *params; /* owned: of a submit; NULL if polls are measured */
    uint64_t answered, bad;
    uint64_t active_sum; /* of calls on the wire, looked at with every answer */
    uint64_t longest_ns; /* of all turns */
    bool is_over;
};

struct mark {
    uint64_t ns, answered, active_sum;
    double user_s, system_s;
    struct upstream_counters counters;
};

static int64_t wall_ms(void)
{
    return (int64_t)time(NULL) * 1000;
}

/* What bench/e2e asks for, and a nonce as long as the gateway's. */
#define FORM "method=turnstile&sitekey=0x4AAAAAAA00000001&pageurl=https://example.com/login"
#define PINGBACK "http://127.0.0.1:8430/pingback/0123456789abcdef0123456789abcdef0123456789abcdef"

static void ask(struct load *load, uint64_t attempt)
{
    if (load->params != NULL)
        upstream_submit(load->upstream, attempt, load->params, SLICE_OF(PINGBACK));
    else
        upstream_poll(load->upstream, attempt, slice_from(load->task_id));
}

static void go_on(struct load *load, bool is_good)
{
    struct upstream_counters counters;
    upstream_counters(load->upstream, &counters);
    load->active_sum += counters.active;
    load->answered++;
    load->bad += !is_good;
    ask(load, load->answered);
}

static void on_submitted(void *context, const struct vendor_result *result)
{
    go_on(context, result->outcome == OUTCOME_ACCEPTED);
}

static void on_probed(void *context, const struct probed *probed)
{
    (void)context;
    (void)probed;
}

static void on_polled(void *context, const struct vendor_result *result)
{
    go_on(context, result->outcome == OUTCOME_PENDING);
}

static void on_time(uv_timer_t *timer)
{
    struct load *load = timer->data;
    load->is_over = true;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void run_for(struct load *load, uint64_t ms)
{
    load->is_over = false;
    (void)uv_timer_start(&load->timer, on_time, ms, 0);
    uint64_t before = cpu_ns();
    while (!load->is_over) {
        (void)uv_run(&load->loop, UV_RUN_ONCE);
        const uint64_t after = cpu_ns();
        if (after - before > load->longest_ns)
            load->longest_ns = after - before;
        before = after;
    }
}

/* Until no more connections are opened: from then on it is the steady state that is measured. */
static void warm_up(struct load *load)
{
    struct upstream_counters before = {.connections_opened = 0};
    struct upstream_counters after = {.connections_opened = 1};
    for (int i = 0; i < 20 && before.connections_opened != after.connections_opened; i++) {
        upstream_counters(load->upstream, &before);
        run_for(load, 500);
        upstream_counters(load->upstream, &after);
    }
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static struct mark mark_now(const struct load *load)
{
    struct rusage usage;
    struct mark mark = {
        .ns = uv_hrtime(), .answered = load->answered, .active_sum = load->active_sum};
    (void)getrusage(RUSAGE_SELF, &usage);
    mark.user_s = seconds_of(usage.ru_utime);
    mark.system_s = seconds_of(usage.ru_stime);
    upstream_counters(load->upstream, &mark.counters);
    return mark;
}

static void print_difference(const struct load *load, const struct mark *start,
                             const struct mark *end)
{
    const double polls = (double)(end->answered - start->answered);
    const double seconds = (double)(end->ns - start->ns) / 1e9;
    printf("{\"polls_per_s\":%.0f,\"user_us\":%.2f,\"system_us\":%.2f,\"epoll_ctl_per_poll\":%.4f,"
           "\"active\":%.0f,\"lanes\":%u,\"connections\":%llu,\"bad\":%llu,\"longest_ms\":%.3f}\n",
           polls / seconds, (end->user_s - start->user_s) * 1e6 / polls,
           (end->system_s - start->system_s) * 1e6 / polls,
           (double)(end->counters.epoll_ctl - start->counters.epoll_ctl) / polls,
           (double)(end->active_sum - start->active_sum) / polls, end->counters.lanes,
           (unsigned long long)end->counters.connections_opened, (unsigned long long)load->bad,
           (double)load->longest_ns / 1e6);
}

static void on_closed(void *context)
{
    struct load *load = context;
    load->is_over = true;
}

static int fail(const char *why, const struct buf *mistake)
{
    fprintf(stderr, "upstream-load: %s %.*s\n", why, (int)mistake->len,
            mistake->len > 0 ? mistake->data : "");
    return 1;
}

static int run(struct load *load, uint32_t outstanding, uint64_t seconds)
{
    for (uint32_t i = 0; i < outstanding; i++)
        ask(load, i);
    warm_up(load);
    const struct mark start = mark_now(load);
    run_for(load, seconds * 1000);
    const struct mark end = mark_now(load);
    print_difference(load, &start, &end);
    load->is_over = false;
    upstream_close(load->upstream, on_closed, load);
    while (!load->is_over)
        (void)uv_run(&load->loop, UV_RUN_ONCE);
    upstream_free(load->upstream);
    blob_unref(load->params);
    uv_close((uv_handle_t *)&load->timer, NULL);
    (void)uv_run(&load->loop, UV_RUN_DEFAULT);
    return uv_loop_close(&load->loop);
}

static struct blob *pack_form(void)
{
    struct params params;
    params_init(&params, 4096);
    const int failed = params_add_form(&params, SLICE_OF(FORM));
    ASSERT(failed == 0);
    struct blob *packed = params_pack(&params);
    params_close(&params);
    return packed;
}

int main(int argc, char **argv)
{
    struct buf mistake;
    buf_init(&mistake, 1024);
    if (argc < 6 || argc > 7)
        return fail("usage: URL TASK-ID OUTSTANDING CONNECTIONS SECONDS [CERTIFICATES]", &mistake);
    struct load load = {.task_id = argv[2]};
    if (strcmp(argv[2], "submit") == 0)
        load.params = pack_form();
    const struct upstream_options options = {
        .protocol = &vendor_captchaai,
        .url = argv[1],
        .key = "0123456789abcdef0123456789abcdef",
        .ca_file = argc > 6 ? argv[6] : NULL,
        .user_agent = "solvegate-bench",
        .http2 = true,
        .connections = (uint32_t)strtoul(argv[4], NULL, 10),
        .queue = 65536,
        .connect_timeout_ms = 5000,
        .submit_timeout_ms = 15000,
        .poll_timeout_ms = 10000,
        .wall_ms = wall_ms,
    };
    const struct upstream_handlers handlers = {
        .context = &load,
        .on_submitted = on_submitted,
        .on_polled = on_polled,
        .on_probed = on_probed,
    };
    (void)uv_loop_init(&load.loop);
    (void)uv_timer_init(&load.loop, &load.timer);
    load.timer.data = &load;
    load.upstream = upstream_new(&load.loop, &options, &handlers, &mistake);
    if (load.upstream == NULL)
        return fail("cannot start:", &mistake);
    buf_close(&mistake);
    return run(&load, (uint32_t)strtoul(argv[3], NULL, 10), strtoul(argv[5], NULL, 10));
}
