#include "cli/bench_run.h"

#include "base/assert.h"
#include "base/list.h"
#include "base/table.h"
#include "base/wheel.h"
#include "cli/bench_caller.h"
#include "cli/bench_notices.h"
#include "cli/bench_pace.h"
#include "cli/bench_schedule.h"
#include "cli/bench_targets.h"
#include "cli/bench_trace.h"
#include "cli/term.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define NS_PER_MS ((uint64_t)1000000)
#define NS_PER_S ((uint64_t)1000000000)
#define TICK_MS 1
#define STATE_NS (200 * NS_PER_MS)
/* How much longer than its hold a call may take. */
#define CALL_GRACE_MS 15000U
/* A look that was answered sooner than this was not held, and the next one waits: first for a second, then for twice as
 * long as before. */
#define UNHELD_NS (500 * NS_PER_MS)
#define PAUSE_MIN_MS 1000U
#define PAUSE_MAX_MS 16000U
/* At most so many requests start in one turn, so that replies are read in between. */
#define BURST_MAX 200U

/* One request, from when it is due until its end. */
struct job {
    struct list link;         /* in the list of its state */
    struct wheel_timer alarm; /* its next look or its end, while it is not on the wire */
    struct table_node node;   /* by its number, if notices come */
    uint64_t told_ns;         /* when its notice came; 0: it has not */
    uint64_t due_ns;          /* as all times here: since the start */
    uint64_t sent_ns;         /* when its call went out */
    uint64_t pause_ms;        /* before its next look, if looks are not held; 0: they are */
    unsigned hold_s;          /* for how long the reply to its call may be held */
    size_t step;
    bool is_look;              /* the call on the wire asks for the result */
    bool is_last;              /* it may not take longer than the request */
    bool is_waiting;           /* for its notice alone */
    char told[BENCH_CODE_MAX]; /* the notice's failure, or empty */
    char id[BENCH_ID_MAX];
};

struct bench_run {
    const struct bench_run_setup *setup;
    const struct bench_plan *plan;
    struct bench_caller *caller;
    struct bench_schedule schedule;
    struct bench_targets targets;
    struct bench_message message;
    struct list calls; /* jobs on the wire */
    struct list rests; /* jobs that wait for their next look */
    struct list ready; /* jobs whose look is due, and may wait for the pace */
    struct list waits; /* jobs that only a notice ends */
    struct wheel wheel;
    struct bench_pace pace;
    struct table by_number;
    struct bench_notices *notices; /* or NULL */
    uv_loop_t loop;
    uv_timer_t timer;
    uint64_t start_ns;
    uint64_t begun; /* requests */
    uint64_t in_flight;
    uint64_t free_asks; /* those that a vendor cannot charge for */
    uint64_t last_solved_ns, last_end_ns;
    uint64_t load_ns;             /* when sending ended, or should have */
    uint64_t state_ns, second_ns; /* when these are due next */
    bool is_sending;
    bool was_full; /* a request had to wait because so many were in flight */
};

static uint64_t now_ns(const struct bench_run *run)
{
    return uv_hrtime() - run->start_ns;
}

/* ---- one request ------------------------------------------------------------------------- */

/* When an answer is not in time any more. */
static uint64_t end_ms(const struct bench_run *run, const struct job *job)
{
    return job->due_ns / NS_PER_MS + run->plan->wait_ms;
}

/* No call takes longer than its request may. */
static void send_call(struct bench_run *run, struct job *job, unsigned hold_s)
{
    const uint64_t now = now_ns(run);
    const uint64_t end = end_ms(run, job);
    const uint64_t left_ms = end > now / NS_PER_MS ? end - now / NS_PER_MS : 1;
    const uint64_t most_ms = (uint64_t)hold_s * 1000 + CALL_GRACE_MS;
    job->sent_ns = now;
    job->hold_s = hold_s;
    job->is_last = left_ms <= most_ms;
    bench_pace_note(&run->pace, now, 1);
    list_append(&run->calls, &job->link);
    bench_caller_send(run->caller, job, &run->message,
                      (unsigned)(job->is_last ? left_ms : most_ms));
}

static size_t step_of(const struct bench_run *run, uint64_t due_ns)
{
    const struct bench_plan *const plan = run->plan;
    if (plan->step_count < 2)
        return 0;
    const size_t step = (size_t)(due_ns * plan->step_count / (plan->duration_ms * NS_PER_MS));
    return step < plan->step_count ? step : plan->step_count - 1;
}

/* The next target of the plan, or the next line of the trace, with its own method. */
static void write_ask(struct bench_run *run)
{
    const struct bench_trace *const trace = run->plan->trace;
    struct bench_talk talk = *run->setup->talk;
    char pingback[BENCH_NOTICE_MAX];
    if (run->notices != NULL) {
        bench_notices_write(run->notices, run->begun, pingback);
        talk.pingback = pingback;
    }
    if (trace == NULL) {
        bench_talk_ask(&talk, bench_targets_next(&run->targets), &run->message);
        return;
    }
    struct bench_plan plan = *run->plan;
    plan.method = bench_trace_method(trace, run->begun);
    talk.plan = &plan;
    bench_talk_ask(&talk, trace->lines[run->begun].target, &run->message);
}

static void begin_request(struct bench_run *run, uint64_t due_ns)
{
    const uint64_t now = now_ns(run);
    struct job *const job = calloc(1, sizeof *job);
    ASSERT(job != NULL);
    list_init(&job->link);
    job->due_ns = due_ns;
    job->step = step_of(run, due_ns);
    write_ask(run);
    job->node.key = key_from_u64(run->begun);
    table_insert(&run->by_number, &job->node);
    run->begun++;
    run->in_flight++;
    bench_tally_sent(run->setup->tally, job->step, now > due_ns ? (now - due_ns) / 1000 : 0);
    send_call(run, job, bench_talk_ask_hold(run->setup->talk));
}

static void end_request(struct bench_run *run, struct job *job)
{
    run->in_flight--;
    table_remove(&run->by_number, &job->node);
    wheel_cancel(&run->wheel, &job->alarm);
    run->last_end_ns = now_ns(run);
    free(job);
}

static void look(struct bench_run *run, struct job *job)
{
    const uint64_t now_ms = now_ns(run) / NS_PER_MS;
    const uint64_t end = end_ms(run, job);
    const uint64_t left_ms = end > now_ms ? end - now_ms : 0;
    const uint64_t left_s = (left_ms + 999) / 1000;
    unsigned hold_s = left_s < BENCH_HOLD_S ? (unsigned)left_s : BENCH_HOLD_S;
    if (run->plan->poll_ms > 0)
        hold_s = 0;
    job->is_look = true;
    bench_talk_look(run->setup->talk, job->id, hold_s, &run->message);
    send_call(run, job, hold_s);
}

static void fill_closed_loop(struct bench_run *run);

static void end_late(struct bench_run *run, struct job *job)
{
    bench_tally_failed(run->setup->tally, job->step, "bench_not_in_time");
    end_request(run, job);
    fill_closed_loop(run);
}

static void count_solved(struct bench_run *run, const struct job *job, uint64_t at_ns, int source)
{
    bench_tally_solved(run->setup->tally, job->step, (at_ns - job->due_ns) / 1000, source);
    run->last_solved_ns = at_ns > run->last_solved_ns ? at_ns : run->last_solved_ns;
}

/* The answer came by notice, at this time. */
static void end_told(struct bench_run *run, struct job *job)
{
    if (job->told[0] == '\0')
        count_solved(run, job, job->told_ns, -1);
    else
        bench_tally_failed(run->setup->tally, job->step, job->told);
    end_request(run, job);
    fill_closed_loop(run);
}

/* It may come before the reply to the ask. Where looks go on, it only counts by how much it was sooner. */
static void on_notice(void *context, uint64_t number, const char *code)
{
    struct bench_run *const run = context;
    const struct key key = key_from_u64(number);
    struct table_node *const node = table_find(&run->by_number, &key);
    struct job *const job = node == NULL ? NULL : CONTAINER_OF(node, struct job, node);
    if (job == NULL || job->told_ns > 0)
        return;
    job->told_ns = now_ns(run);
    (void)snprintf(job->told, sizeof job->told, "%s", code);
    if (job->is_waiting) {
        list_unlink(&job->link);
        end_told(run, job);
    }
}

static bool is_told_only(const struct bench_run *run)
{
    return run->notices != NULL && run->plan->poll_ms == 0;
}

static void wait_for_notice(struct bench_run *run, struct job *job)
{
    if (job->told_ns > 0) {
        end_told(run, job);
        return;
    }
    job->is_waiting = true;
    list_append(&run->waits, &job->link);
    wheel_arm(&run->wheel, &job->alarm, end_ms(run, job));
}

static void send_looks(struct bench_run *run)
{
    struct list *first;
    while ((first = list_first(&run->ready)) != NULL &&
           bench_pace_allows(&run->pace, now_ns(run))) {
        struct job *const job = CONTAINER_OF(first, struct job, link);
        list_unlink(first);
        wheel_cancel(&run->wheel, &job->alarm);
        look(run, job);
    }
}

/* Its next look goes out as soon as the pace allows, or it ends without one. */
static void make_ready(struct bench_run *run, struct job *job)
{
    list_append(&run->ready, &job->link);
    wheel_arm(&run->wheel, &job->alarm, end_ms(run, job));
    send_looks(run);
}

/* How long to wait before the next look: a gateway that answers at once, whatever it was asked to do, must not be asked
 * without end. */
static uint64_t pause_of(const struct bench_run *run, struct job *job)
{
    if (run->plan->poll_ms > 0)
        return run->plan->poll_ms;
    if (job->hold_s == 0 || now_ns(run) - job->sent_ns >= UNHELD_NS)
        job->pause_ms = 0;
    else if (job->pause_ms == 0)
        job->pause_ms = PAUSE_MIN_MS;
    else
        job->pause_ms = job->pause_ms < PAUSE_MAX_MS / 2 ? job->pause_ms * 2 : PAUSE_MAX_MS;
    return job->pause_ms;
}

static void on_pending(struct bench_run *run, struct job *job)
{
    const uint64_t now_ms = now_ns(run) / NS_PER_MS;
    const uint64_t end = end_ms(run, job);
    if (is_told_only(run)) {
        wait_for_notice(run, job);
        return;
    }
    const uint64_t pause_ms = pause_of(run, job);
    if (now_ms >= end) {
        end_late(run, job);
    } else if (pause_ms > 0) {
        list_append(&run->rests, &job->link);
        wheel_arm(&run->wheel, &job->alarm, now_ms + pause_ms < end ? now_ms + pause_ms : end);
    } else {
        make_ready(run, job);
    }
}

/* Looks that are due, and requests whose time is up. */
static void heed_alarms(struct bench_run *run)
{
    const uint64_t now_ms = now_ns(run) / NS_PER_MS;
    struct wheel_timer *timer;
    wheel_advance(&run->wheel, now_ms, UINT32_MAX);
    while ((timer = wheel_pop(&run->wheel)) != NULL) {
        struct job *const job = CONTAINER_OF(timer, struct job, alarm);
        list_unlink(&job->link);
        if (now_ms >= end_ms(run, job))
            end_late(run, job);
        else
            make_ready(run, job);
    }
}

/* An answer, or the lack of one, after the time that it may take. */
static bool is_late(const struct bench_run *run, const struct job *job,
                    const struct bench_result *result, enum bench_news news)
{
    if (result->trouble != NULL)
        return job->is_last && strcmp(result->trouble, "bench_timeout") == 0;
    return news != BENCH_FAILED && now_ns(run) / NS_PER_MS >= end_ms(run, job);
}

static void on_done(void *context, void *pointer, const struct bench_result *result)
{
    struct bench_run *const run = context;
    struct job *const job = pointer;
    struct bench_heard heard = {.news = BENCH_FAILED, .source = -1};
    list_unlink(&job->link);
    if (!job->is_look && !bench_talk_may_cost(result->sends > 0, result->trouble == NULL,
                                              result->status, result->body))
        run->free_asks++;
    if (result->trouble == NULL)
        bench_talk_hear(run->setup->talk, job->is_look, result->status, result->body, &heard);
    else
        (void)snprintf(heard.code, sizeof heard.code, "%s", result->trouble);
    if (result->sends > 1)
        bench_pace_note(&run->pace, now_ns(run), result->sends - 1);
    if (is_late(run, job, result, heard.news)) {
        end_late(run, job);
        return;
    }
    if (heard.news == BENCH_PENDING) {
        if (heard.id[0] != '\0')
            memcpy(job->id, heard.id, sizeof job->id);
        on_pending(run, job);
        return;
    }
    if (heard.news == BENCH_SOLVED && job->is_look && job->told_ns > 0)
        bench_tally_told(run->setup->tally, (now_ns(run) - job->told_ns) / 1000);
    if (heard.news == BENCH_SOLVED)
        count_solved(run, job, now_ns(run), heard.source);
    else
        bench_tally_failed(run->setup->tally, job->step, heard.code);
    end_request(run, job);
    fill_closed_loop(run);
}

/* ---- what is due ------------------------------------------------------------------------- */

static uint64_t next_due(struct bench_run *run)
{
    const struct bench_plan *const plan = run->plan;
    if (plan->trace == NULL)
        return bench_schedule_due(&run->schedule, run->begun);
    if (run->begun >= plan->trace->count)
        return BENCH_NEVER;
    const double due_us = (double)plan->trace->lines[run->begun].at_us / plan->speed;
    const bool is_over = plan->duration_ms > 0 && due_us >= (double)plan->duration_ms * 1000;
    return is_over ? BENCH_NEVER : (uint64_t)(due_us * 1000);
}

/* Requests that are evenly spaced fill the time until one more would be due, so the rate is that of the schedule. */
static uint64_t load_end(struct bench_run *run, uint64_t now)
{
    const struct bench_plan *const plan = run->plan;
    const bool is_cut = plan->requests > 0 && run->begun >= plan->requests;
    const uint64_t next = is_cut && plan->step_count > 0 ? next_due(run) : BENCH_NEVER;
    if (next != BENCH_NEVER)
        return next;
    return plan->duration_ms > 0 && (!is_cut || plan->step_count > 0)
               ? plan->duration_ms * NS_PER_MS
               : now;
}

static void end_sending(struct bench_run *run, uint64_t now)
{
    if (run->is_sending)
        run->load_ns = load_end(run, now);
    run->is_sending = false;
}

/* Sending ends with the last request or with the duration. */
static bool may_begin(struct bench_run *run, uint64_t now)
{
    const struct bench_plan *const plan = run->plan;
    if (plan->requests > 0 && run->begun >= plan->requests)
        end_sending(run, now);
    if (plan->duration_ms > 0 && !bench_is_open_loop(plan) && now >= plan->duration_ms * NS_PER_MS)
        end_sending(run, now);
    return run->is_sending;
}

/* What the schedule lists is sent, however late: a request that is late counts its delay. */
static void follow_schedule(struct bench_run *run)
{
    for (unsigned i = 0; i < BURST_MAX; i++) {
        const uint64_t now = now_ns(run);
        if (!may_begin(run, now))
            return;
        const uint64_t due_ns = next_due(run);
        if (due_ns == BENCH_NEVER)
            end_sending(run, now);
        if (due_ns > now || !bench_pace_allows(&run->pace, now))
            return;
        if (run->in_flight >= run->setup->in_flight_max) {
            run->was_full = true;
            return;
        }
        begin_request(run, due_ns);
    }
}

static uint64_t closed_loop_room(const struct bench_run *run, uint64_t now)
{
    const struct bench_plan *const plan = run->plan;
    const double ramp_ns = (double)(plan->ramp_ms * NS_PER_MS);
    double room = plan->concurrency;
    if ((double)now < ramp_ns)
        room = ceil(room * ((double)now + 1) / ramp_ns);
    return (uint64_t)room;
}

static void fill_closed_loop(struct bench_run *run)
{
    const uint64_t now = now_ns(run);
    if (bench_is_open_loop(run->plan))
        return;
    const uint64_t room = closed_loop_room(run, now);
    for (unsigned i = 0; i < BURST_MAX && run->in_flight < room && may_begin(run, now); i++) {
        const uint64_t due_ns = now_ns(run);
        if (!bench_pace_allows(&run->pace, due_ns))
            return;
        begin_request(run, due_ns);
    }
}

/* ---- time -------------------------------------------------------------------------------- */

static void tell_state(struct bench_run *run, uint64_t now)
{
    const struct bench_state state = {.plan = run->plan,
                                      .tally = run->setup->tally,
                                      .elapsed_ns = now,
                                      .in_flight = run->in_flight,
                                      .is_sending = run->is_sending};
    run->state_ns = now + STATE_NS;
    if (run->setup->on_state != NULL)
        run->setup->on_state(run->setup->context, &state);
}

static void on_tick(uv_timer_t *timer)
{
    struct bench_run *const run = timer->data;
    heed_alarms(run);
    send_looks(run);
    if (bench_is_open_loop(run->plan))
        follow_schedule(run);
    else
        fill_closed_loop(run);
    const uint64_t now = now_ns(run);
    for (; run->second_ns <= now; run->second_ns += NS_PER_S)
        bench_tally_second(run->setup->tally, run->in_flight);
    if (now >= run->state_ns)
        tell_state(run, now);
    if (term_signal() == 0 && (run->is_sending || run->in_flight > 0))
        return;
    if (run->in_flight > 0)
        run->last_end_ns = now;
    if (run->is_sending || (term_signal() != 0 && run->load_ns > now))
        run->load_ns = now;
    tell_state(run, now);
    bench_caller_close(run->caller);
    bench_notices_close(run->notices);
    uv_close((uv_handle_t *)timer, NULL);
}

/* ---- life -------------------------------------------------------------------------------- */

/* True if none are wanted, too. */
static bool open_notices(struct bench_run *run, struct buf *mistake)
{
    const struct bench_notices_setup notices = {.address = run->plan->callbacks,
                                                .run = run->plan->seed,
                                                .context = run,
                                                .on_notice = on_notice};
    if (notices.address == NULL)
        return true;
    run->notices = bench_notices_new(&run->loop, &notices, mistake);
    return run->notices != NULL;
}

static bool open_run(struct bench_run *run, struct buf *mistake)
{
    const struct bench_talk *const talk = run->setup->talk;
    char auth[BENCH_HEADER_ROOM];
    const char *headers[BENCH_HEADERS_MAX];
    const struct bench_caller_setup calls = {
        .url = run->setup->url,
        .headers = headers,
        .header_count = bench_talk_headers(talk, auth, headers),
        .allows = run->setup->allows,
        .context = run,
        .on_done = on_done,
    };
    if (uv_loop_init(&run->loop) != 0) {
        buf_add(mistake, SLICE_OF("there is no descriptor left"));
        return false;
    }
    if (!open_notices(run, mistake)) {
        (void)uv_loop_close(&run->loop);
        return false;
    }
    run->caller = bench_caller_new(&run->loop, &calls);
    if (run->caller == NULL) {
        buf_add(mistake, SLICE_OF("there is no descriptor left"));
        bench_notices_close(run->notices);
        (void)uv_run(&run->loop, UV_RUN_DEFAULT);
        bench_notices_free(run->notices);
        (void)uv_loop_close(&run->loop);
        return false;
    }
    (void)uv_timer_init(&run->loop, &run->timer);
    run->timer.data = run;
    return true;
}

static void free_jobs(struct list *jobs)
{
    struct list *first;
    while ((first = list_first(jobs)) != NULL) {
        list_unlink(first);
        free(CONTAINER_OF(first, struct job, link));
    }
}

bool bench_run(const struct bench_run_setup *setup, struct bench_end *end, struct buf *mistake)
{
    struct bench_run *const run = calloc(1, sizeof *run);
    ASSERT(run != NULL);
    *run = (struct bench_run){.setup = setup, .plan = setup->plan, .is_sending = true};
    const bool is_open = open_run(run, mistake);
    if (is_open) {
        list_init(&run->calls);
        list_init(&run->rests);
        list_init(&run->ready);
        list_init(&run->waits);
        table_init(&run->by_number, BENCH_CONCURRENCY_MAX, (const uint64_t[]){run->plan->seed, 0});
        wheel_init(&run->wheel, 0);
        bench_pace_init(&run->pace, setup->pace);
        bench_message_init(&run->message);
        bench_targets_init(&run->targets, run->plan->repeat, run->plan->zipf, run->plan->seed);
        if (run->plan->step_count > 0)
            bench_schedule_init(&run->schedule, run->plan);
        run->start_ns = uv_hrtime();
        run->second_ns = NS_PER_S;
        (void)uv_timer_start(&run->timer, on_tick, 0, TICK_MS);
        (void)uv_run(&run->loop, UV_RUN_DEFAULT);
        bench_tally_end(setup->tally, run->in_flight);
        *end = (struct bench_end){.load_ns = run->load_ns,
                                  .solved_ns = run->last_solved_ns,
                                  .elapsed_ns = run->last_end_ns,
                                  .unfinished = run->in_flight,
                                  .costly = run->begun - run->free_asks,
                                  .was_full = run->was_full};
        free_jobs(&run->calls);
        free_jobs(&run->rests);
        free_jobs(&run->ready);
        free_jobs(&run->waits);
        table_close(&run->by_number);
        bench_caller_free(run->caller);
        bench_notices_free(run->notices);
        (void)uv_loop_close(&run->loop);
        bench_message_close(&run->message);
    }
    free(run);
    return is_open;
}
