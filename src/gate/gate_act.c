/* Performs the engine's actions: answers at the doors, calls to the vendor, alerts to the operator. */
#include "gate/gate_act.h"

#include "base/assert.h"
#include "gate/audit.h"
#include "gate/cluster.h"
#include "gate/gate_state.h"
#include "sys/clocks.h"
#include "sys/log.h"

#include <solvegate/words.h>

#include <stdio.h>

/* A solution has at most 64 KiB, and is written twice at most, with every byte escaped. */
#define NOTICE_BODY_MAX ((size_t)1 << 20)

static void alert(struct gate *gate, const struct alert *alert)
{
    const bool is_good_news = alert->kind == ALERT_BREAKER_CLOSED;
    LOG(is_good_news ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR, alert_name(alert->kind),
        log_string("error", alert->code), log_string("class", error_class_name(alert->class)),
        log_number("letters", alert->count));
    webhook_alert(gate->webhook, alert);
    if (alert->kind == ALERT_BREAKER_OPEN)
        series_mark(gate->series, SERIES_BREAKER_OPENED);
    if (is_good_news)
        series_mark(gate->series, SERIES_BREAKER_CLOSED);
}

/* The callback's address carries the attempt's nonce in its path, since the vendor may drop a query
 * string (docs/reliability.md 5.2). */
static void submit(struct gate *gate, const struct call *call)
{
    const struct nonce told = {.attempt = call->attempt,
                               .told_s = (uint32_t)(clocks_read().wall_ms / 1000)};
    char pingback[CONFIG_TEXT_MAX + NONCE_CHARS + 16];
    char nonce[NONCE_CHARS + 1];
    struct slice address = SLICE_NONE;
    if (gate->config->public_url != NULL) {
        nonce_write(gate->nonce_secret, &told, nonce);
        const int len =
            snprintf(pingback, sizeof pingback, "%s/pingback/%s", gate->config->public_url, nonce);
        address = (struct slice){.data = pingback, .len = (size_t)len};
    }
    gate->submits_out++;
    upstream_submit(gate->upstream, call->attempt, call->params, address);
}

/* If too many notices are on the wire, the engine tries again later. */
static void notify(struct gate *gate, const struct notify *notify)
{
    const struct slice url = blob_slice(notify->url);
    struct buf json;
    buf_init(&json, NOTICE_BODY_MAX);
    const bool is_taken =
        gate->doors->notice(gate, notify, &json)
            ? notices_post(gate->notices, notify->request, url, buf_slice(&json))
            : notices_send(gate->notices, notify->request, url, blob_slice(notify->code));
    buf_close(&json);
    if (!is_taken)
        gate_notified(gate, notify->request, NOTICE_BUSY, "");
}

void gate_notified(struct gate *gate, request_id request, enum notify_end end, const char *why)
{
    struct event event = gate_event(gate, EVENT_NOTIFIED);
    event.notified.request = request;
    event.notified.end = end;
    (void)snprintf(event.notified.why, sizeof event.notified.why, "%s", why);
    gate_step(gate, &event);
}

void gate_withdrawn(struct gate *gate, const struct action *action)
{
    if (action->kind == ACTION_NOTIFY)
        return;
    const bool is_poll = action->kind == ACTION_POLL;
    struct event event = gate_event(gate, is_poll ? EVENT_POLLED : EVENT_SUBMITTED);
    event.result =
        (struct vendor_result){.attempt = action->call.attempt, .outcome = OUTCOME_WITHDRAWN};
    gate_step(gate, &event);
}

void gate_perform(struct gate *gate, const struct action *action)
{
    switch (action->kind) {
    case ACTION_ANSWER:
        gate->doors->answer(gate, &action->answer);
        return;
    case ACTION_ACCOUNT:
        gate->doors->account(gate, &action->account);
        return;
    case ACTION_SUBMIT:
        submit(gate, &action->call);
        return;
    case ACTION_POLL:
        upstream_poll(gate->upstream, action->call.attempt, slice_from(action->call.task_id));
        return;
    case ACTION_REPORT:
        upstream_report(gate->upstream, slice_from(action->call.task_id), action->call.is_good);
        return;
    case ACTION_PROBE:
        upstream_probe(gate->upstream, action->probe);
        return;
    case ACTION_ALERT:
        alert(gate, &action->alert);
        return;
    case ACTION_PAID:
        audit_paid(gate, &action->paid);
        return;
    case ACTION_LETTERS:
        gate->doors->letters(gate, &action->letters);
        return;
    case ACTION_SHOWN:
        gate->doors->shown(gate, &action->shown);
        return;
    case ACTION_ACK:
        gate->doors->callback(gate, action->ack, true);
        return;
    case ACTION_NOTIFY:
        notify(gate, &action->notify);
        return;
    case ACTION_WITHDRAW:
        upstream_withdraw(gate->upstream, action->withdrawal.attempt, action->withdrawal.is_poll);
        return;
    case ACTION_FIND:
        cluster_find(gate, &action->find);
        return;
    case ACTION_JOURNAL:
    case ACTION_CLAIM:
    case ACTION_RELEASE:
    case ACTION_FORGET:
    case ACTION_TELL:
    case ACTION_ADOPT:
    case ACTION_DRAW:
        /* Handled before this function. */
        break;
    }
    UNREACHABLE();
}
