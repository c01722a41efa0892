#include "sim/vendor.h"

#include "base/assert.h"
#include "sim/callbacks.h"
#include "sim/text.h"

#include <math.h>

/* Ten digits with room for more, far below 2^53. */
#define FIRST_NUMBER 5000000000ULL

static void on_task_timer(void *context, struct wheel_timer *timer)
{
    struct vendor *vendor = context;
    struct task *task = CONTAINER_OF(timer, struct task, timer);

    if (task->state == TASK_SOLVING)
        vendor_settle(vendor, task);
    else
        vendor_expire(vendor, task);
}

/* Resets all random streams; answers depend only on the seed and the task's number. */
static void seed_streams(struct vendor *vendor)
{
    rand_init(&vendor->rand, vendor->style.seed);
    rand_init(&vendor->faults.rand, vendor->style.seed + 1);
}

void vendor_init(struct vendor *vendor, const struct options *options, struct clock *clock,
                 struct faults *take_faults, uint64_t seed)
{
    struct rand secrets;

    *vendor = (struct vendor){.options = options, .clock = clock, .first_faults = *take_faults};
    vendor->style = (struct answer_style){
        .seed = seed, .token_bytes = options->token_bytes, .clearance = options->clearance};
    rand_init(&secrets, seed + 2);
    const uint64_t secret[2] = {rand_u64(&secrets), rand_u64(&secrets)};
    tasks_init(&vendor->tasks, (uint32_t)options->tasks_max, options->ledger_max,
               FIRST_NUMBER + rand_below(&secrets, 1000000) * 1000, secret);
    plan_init(&vendor->plan, options);
    faults_init(&vendor->faults, seed);
    faults_copy_rules(&vendor->faults, &vendor->first_faults);
    faults_copy_script(&vendor->faults, &vendor->first_faults);
    seed_streams(vendor);
    params_init(&vendor->params);
    buf_init(&vendor->scratch, 64 << 20);
    buf_init(&vendor->headers, 4096);
    clock_handle(clock, CLOCK_TASK, on_task_timer, vendor);
}

/* Answers a synchronous caller in the form it asked for. */
static void answer_waiter(struct vendor *vendor, const struct task *task)
{
    struct buf body;

    buf_init(&body, 1 << 20);
    if (task->error != NULL && task->is_json) {
        buf_add(&body, SLICE_OF("{\"status\":0,\"request\":"));
        text_add_json(&body, slice_from(task->error));
        buf_add_char(&body, '}');
    } else if (task->error != NULL) {
        buf_add(&body, slice_from(task->error));
    } else if (task->is_json) {
        answer_add_json(&body, task, &vendor->style, SLICE_NONE);
    } else {
        answer_add_plain(&body, task, &vendor->style, SLICE_NONE);
    }
    http_answer(vendor->server, task->waiter,
                task->is_json ? "application/json" : "text/plain; charset=utf-8", buf_slice(&body));
    buf_close(&body);
}

static void forget_all(struct vendor *vendor)
{
    struct tasks *tasks = &vendor->tasks;

    for (slab_id id = slab_next(&tasks->slab, 0); id != 0; id = slab_next(&tasks->slab, id)) {
        struct task *task = tasks_get(tasks, id);
        clock_cancel(vendor->clock, &task->timer);
        if (task->waiter != 0) {
            task->error = "ERROR_SERVER_ERROR";
            answer_waiter(vendor, task);
        }
        tasks_release(tasks, task);
    }
    tasks->forgotten = 0;
}

void vendor_reset(struct vendor *vendor)
{
    forget_all(vendor);
    pingback_cancel(vendor->pingback);
    plan_init(&vendor->plan, vendor->options);
    vendor->totals = (struct totals){.calls = 0};
    memset(vendor->codes, 0, sizeof vendor->codes);
    memset(vendor->faults.struck, 0, sizeof vendor->faults.struck);
    faults_copy_rules(&vendor->faults, &vendor->first_faults);
    faults_copy_script(&vendor->faults, &vendor->first_faults);
    seed_streams(vendor);
}

void vendor_close(struct vendor *vendor)
{
    forget_all(vendor);
    tasks_close(&vendor->tasks);
    faults_close(&vendor->faults);
    faults_close(&vendor->first_faults);
    params_close(&vendor->params);
    buf_close(&vendor->scratch);
    buf_close(&vendor->headers);
}

void vendor_settle(struct vendor *vendor, struct task *task)
{
    const bool is_failed = task->error != NULL;
    const uint64_t now_ms = clock_now_ms(vendor->clock);

    clock_cancel(vendor->clock, &task->timer);
    task->settles_ms = now_ms;
    tasks_settle(&vendor->tasks, task, is_failed ? TASK_FAILED : TASK_SOLVED);
    if (is_failed) {
        vendor->totals.failed++;
        plan_refund(&vendor->plan);
    } else {
        vendor->totals.solved++;
    }
    if (task->waiter != 0)
        answer_waiter(vendor, task);
    if (task->pingback != NULL && !task->is_called_back)
        callbacks_start(vendor, task, 0);
    clock_arm(vendor->clock, &task->timer, now_ms + vendor->options->result_ttl_ms);
}

void vendor_settle_if_due(struct vendor *vendor, struct task *task)
{
    if (task->state == TASK_SOLVING && !task->is_never &&
        task->settles_ms <= clock_now_ms(vendor->clock))
        vendor_settle(vendor, task);
}

void vendor_expire(struct vendor *vendor, struct task *task)
{
    clock_cancel(vendor->clock, &task->timer);
    tasks_expire(&vendor->tasks, task);
}

void vendor_forget(void *context, struct task *task)
{
    struct vendor *vendor = context;

    clock_cancel(vendor->clock, &task->timer);
}

/* A number above 0 and at most 1, so that its logarithm and its root exist. */
static double draw_unit(struct vendor *vendor)
{
    return ((double)(rand_u64(&vendor->rand) >> 11) + 1) / 9007199254740992.0;
}

static double draw_ms(struct vendor *vendor, const struct solve_time *time)
{
    const double mean = (double)time->ms;

    switch (time->shape) {
    case SOLVE_FIXED:
        return mean;
    case SOLVE_EXPONENTIAL:
        return -mean * log(draw_unit(vendor));
    case SOLVE_TAIL:
        /* Pareto with exponent 2: the mean is twice the minimum, and one in 400 takes ten means. */
        return mean / 2 / sqrt(draw_unit(vendor));
    case SOLVE_UNIFORM:
        return mean + draw_unit(vendor) * (double)(time->until_ms - time->ms);
    }
    UNREACHABLE();
}

uint64_t vendor_solve_ms(struct vendor *vendor, struct slice method)
{
    const struct options *options = vendor->options;
    const struct solve_time *time = &options->solve_times[0];

    for (size_t i = 1; i < options->solve_time_count; i++)
        if (slice_equals(options->solve_times[i].method, method))
            time = &options->solve_times[i];
    const double ms = draw_ms(vendor, time);
    /* Extreme values help no test, so the time is limited to a hundred means. */
    const double most = 100.0 * (double)(time->until_ms > time->ms ? time->until_ms : time->ms);
    return (uint64_t)(ms < most ? ms : most);
}
