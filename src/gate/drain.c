#include "gate/drain.h"

#include "gate/gate_state.h"
#include "gate/rejoin.h"
#include "gate/reload.h"
#include "gate/service.h"
#include "sys/log.h"
#include "upstream/upstream_life.h"

#include <solvegate/view.h>

#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

/* Time for finished answers to leave; unfinished work is on disk. */
#define GIVE_UP_MS 3000
/* Time for the refusals of those who waited in vain to leave. */
#define LEAVE_MS 500
#define DISMISS_EVERY_MS 5
/* The store has what is left of the time to drain, but at least so much for the last records. */
#define STORE_LAST_MS 2000
#define SIGNAL_CODE 128

/* True once every caller is answered and the answers have left: a draining server closes each
 * connection then. Journaled work is not waited for, but a submit on the wire is, since its reply
 * must not be lost. When time is over only the refusals have to leave. */
static bool is_idle(const struct gate *gate)
{
    struct gauges gauges;
    struct http_counters http;
    engine_gauges(gate->engine, &gauges);
    http_counters(gate->server, &http);
    if (gate->is_dismissing)
        return gauges.callers == 0 && http.open == 0;
    /* Facts that only this gateway knows can be told once it has joined again. */
    if (gate->cluster.is_fenced)
        return false;
    const uint32_t waiting = gate->persist.store == NULL ? gauges.waiting : gauges.callers;
    return waiting == 0 && http.open == 0 && gate->submits_out == 0 && persist_is_idle(gate);
}

/* The loop ends by itself when the last handle is closed, so nothing is counted here. */
static void on_part_closed(void *context)
{
    (void)context;
}

static void forgo_submit(void *context, attempt_id attempt)
{
    struct gate *gate = context;
    engine_forgo_submit(gate->engine, attempt);
}

/* Reports submits that never left, so that the next start does not have to treat them as ambiguous. */
static void forgo_submits(struct gate *gate)
{
    if (gate->engine == NULL || gate->upstream == NULL)
        return;
    engine_stop_submits(gate->engine);
    upstream_each_waiting_submit(gate->upstream, forgo_submit, gate);
    persist_each_waiting_submit(gate, forgo_submit, gate);
    engine_give_back_units(gate->engine);
    gate_take_actions(gate);
}

void drain_close(struct gate *gate)
{
    gate->is_closing = true;
    forgo_submits(gate);
    service_close();
    if (gate->server != NULL)
        http_server_close(gate->server, on_part_closed, NULL);
    if (gate->upstream != NULL)
        upstream_close(gate->upstream, on_part_closed, NULL);
    webhook_close(gate->webhook);
    if (gate->notices != NULL)
        notices_close(gate->notices, on_part_closed, NULL);
    const uint64_t now = uv_now(&gate->loop);
    const uint64_t rest = gate->drain_until_ms > now ? gate->drain_until_ms - now : 0;
    persist_close(gate, rest > STORE_LAST_MS ? rest : STORE_LAST_MS);
    cluster_close(gate);
    (void)rejoin_abandon(gate);
    resume_close(gate->resume);
    (void)reload_abandon(gate);
    uv_handle_t *const handles[] = {
        (uv_handle_t *)&gate->deadline,    (uv_handle_t *)&gate->before_sleep,
        (uv_handle_t *)&gate->after_poll,  (uv_handle_t *)&gate->sigterm,
        (uv_handle_t *)&gate->sigint,      (uv_handle_t *)&gate->sighup,
        (uv_handle_t *)&gate->drain_timer, (uv_handle_t *)&gate->series_timer};
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++)
        if (!uv_is_closing(handles[i]))
            uv_close(handles[i], NULL);
    /* A reload that comes too late must not end us before the journal is written. */
    (void)signal(SIGHUP, SIG_IGN);
}

/* Whoever still waits is told to come again, since a connection that is cut says nothing. */
static void on_dismiss(uv_timer_t *timer)
{
    struct gate *gate = timer->data;
    const uint64_t now = uv_now(&gate->loop);
    if (gate->is_closing)
        return;
    if (engine_dismiss_callers(gate->engine)) {
        gate_take_actions(gate);
        gate->leave_until_ms = now + LEAVE_MS;
    } else if (now >= gate->leave_until_ms) {
        drain_close(gate);
    }
}

static void on_drain_timeout(uv_timer_t *timer)
{
    struct gate *gate = timer->data;
    struct gauges gauges;
    engine_gauges(gate->engine, &gauges);
    LOG(LOG_LEVEL_WARN, "drain_timeout", log_number("unanswered", gauges.waiting),
        log_number(gate->persist.store == NULL ? "flights_lost" : "flights_kept", gauges.flights));
    if (gate->is_closing)
        return;
    gate->is_dismissing = true;
    gate->leave_until_ms = uv_now(&gate->loop) + LEAVE_MS;
    persist_dismiss(gate);
    uv_timer_start(timer, on_dismiss, 0, DISMISS_EVERY_MS);
}

/* Withdraws submits that wait for a connection and lets no more leave: a reply after our end would
 * be lost, and its submit paid for twice. */
static void stop_submits(struct gate *gate)
{
    engine_stop_submits(gate->engine);
    upstream_withdraw_submits(gate->upstream);
}

static void on_last_submits(uv_timer_t *timer)
{
    struct gate *gate = timer->data;
    stop_submits(gate);
    uv_timer_start(timer, on_drain_timeout, gate->config->upstream.submit_timeout_ms, 0);
}

/* Without a journal nothing survives a restart, so submits go on until the end of the drain. */
static void limit_drain(struct gate *gate, uint32_t timeout_ms)
{
    const uint32_t submit_ms = gate->config->upstream.submit_timeout_ms;
    const bool is_kept = gate->persist.store != NULL;
    struct gauges gauges;
    engine_gauges(gate->engine, &gauges);
    /* A held caller may still need a submit. */
    if (is_kept && gauges.callers > 0 && timeout_ms > submit_ms) {
        uv_timer_start(&gate->drain_timer, on_last_submits, timeout_ms - submit_ms, 0);
        return;
    }
    if (is_kept)
        stop_submits(gate);
    uv_timer_start(&gate->drain_timer, on_drain_timeout, timeout_ms, 0);
}

static void drain(struct gate *gate, uint32_t timeout_ms)
{
    gate->is_draining = true;
    gate->drain_until_ms = uv_now(&gate->loop) + timeout_ms;
    service_stopping(timeout_ms);
    const struct event event = gate_event(gate, EVENT_DRAIN);
    gate_step(gate, &event);
    http_server_drain(gate->server);
    limit_drain(gate, timeout_ms);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct gate *gate = signal->data;
    if (gate->is_draining) {
        LOG(LOG_LEVEL_WARN, "exit_now", log_number("signal", number));
        exit(persist_is_complete(gate) ? EX_OK : EX_IOERR);
    }
    LOG(LOG_LEVEL_INFO, "draining", log_number("signal", number));
    drain(gate, gate->config->drain_timeout_ms);
}

void drain_give_up(struct gate *gate, int code)
{
    gate->exit_code = code;
    if (gate->is_draining)
        return;
    const uint32_t drain_ms = gate->config->drain_timeout_ms;
    drain(gate, drain_ms < GIVE_UP_MS ? drain_ms : GIVE_UP_MS);
}

void drain_look(struct gate *gate)
{
    if (gate->is_draining && !gate->is_closing && is_idle(gate))
        drain_close(gate);
}

/* ---- signals ----------------------------------------------------------------------------- */

/* The first process of a container does not die of a signal that it does not handle. */
static void on_early_signal(int number)
{
    (void)raise(number);
    _exit(SIGNAL_CODE + number);
}

void drain_catch_early(void)
{
    struct sigaction action = {.sa_handler = on_early_signal,
                               .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
}

void drain_catch(struct gate *gate)
{
    uv_signal_start(&gate->sigterm, on_signal, SIGTERM);
    uv_signal_start(&gate->sigint, on_signal, SIGINT);
}
