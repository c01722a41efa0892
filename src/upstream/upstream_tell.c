#include "upstream/upstream_tell.h"

#include "upstream/upstream_private.h"

#include <stdio.h>

static void tell_result(struct upstream *upstream, enum call_kind kind,
                        struct vendor_result *result)
{
    if (kind == CALL_SUBMIT)
        upstream->handlers.on_submitted(upstream->handlers.context, result);
    else
        upstream->handlers.on_polled(upstream->handlers.context, result);
    blob_unref(result->text);
    blob_unref(result->extra);
}

static enum probe probe_of(enum call_kind kind)
{
    return kind == CALL_THREADS ? PROBE_THREADS : PROBE_BALANCE;
}

void upstream_conclude(struct upstream *upstream, struct transfer *transfer, bool is_ok)
{
    const enum call_kind kind = transfer->kind;
    struct vendor_result result = {.attempt = transfer->attempt};
    struct probed probed;
    struct vendor_reply reply;
    transfer_reply(transfer, is_ok, upstream->wall_ms(), &reply);
    if (kind == CALL_SUBMIT)
        upstream->protocol->read_submit(&upstream->vendor, &reply, &result);
    else if (kind == CALL_POLL)
        upstream->protocol->read_poll(&upstream->vendor, &reply, &result);
    else if (kind != CALL_REPORT)
        upstream->protocol->read_probe(&upstream->vendor, &reply, probe_of(kind), &probed);
    if (transfer->header_bytes > 0)
        upstream->setup.has_http2 = transfer->is_http2;
    upstream->errors += !is_ok;
    upstream->bytes_in += transfer->header_bytes + reply.body.len;
    upstream->bytes_out += transfer_bytes_out(transfer);
    upstream->active--;
    list_unlink(&transfer->link);
    if (transfer_is_clean(transfer, is_ok))
        list_prepend(&upstream->idle, &transfer->link);
    else
        transfer_free(transfer);
    if (upstream->queue.waiting > 0)
        upstream_wake(upstream);
    if (kind == CALL_SUBMIT || kind == CALL_POLL)
        tell_result(upstream, kind, &result);
    else if (kind != CALL_REPORT)
        upstream->handlers.on_probed(upstream->handlers.context, &probed);
    upstream_hold_loop(upstream);
}

/* Reports a call that was never sent. */
void upstream_conclude_unsent(struct upstream *upstream, const struct due_call *call)
{
    const struct vendor_reply nothing = {.is_sent = false};
    struct vendor_result result = {.attempt = due_call_attempt(call)};
    struct probed probed;
    if (call->is_withdrawn) {
        result.outcome = OUTCOME_WITHDRAWN;
        tell_result(upstream, call->kind, &result);
    } else if (call->kind == CALL_SUBMIT) {
        upstream->protocol->read_submit(&upstream->vendor, &nothing, &result);
        tell_result(upstream, call->kind, &result);
    } else if (call->kind == CALL_POLL) {
        upstream->protocol->read_poll(&upstream->vendor, &nothing, &result);
        tell_result(upstream, call->kind, &result);
    } else if (call->kind != CALL_REPORT) {
        upstream->protocol->read_probe(&upstream->vendor, &nothing, probe_of(call->kind), &probed);
        upstream->handlers.on_probed(upstream->handlers.context, &probed);
    }
}

/* Parameters that cannot be encoded would fail in every further attempt too. */
void upstream_conclude_unwritable(struct upstream *upstream, const struct due_call *call, int error)
{
    struct vendor_result result = {
        .attempt = due_call_attempt(call), .outcome = OUTCOME_REJECTED, .class = CLASS_CALLER};
    (void)snprintf(result.code, sizeof result.code, "%s",
                   error == ERR_FULL ? "ERROR_TOO_BIG_CAPTCHA_FILESIZE" : "ERROR_BAD_PARAMETERS");
    tell_result(upstream, call->kind, &result);
}
