#include "proto/dialect_write.h"

#include "base/assert.h"
#include "proto/json_out.h"

/* The vendor's own misspelling; clients compare with ==. */
#define NOT_READY SLICE_OF("CAPCHA_NOT_READY")

void dialect_write_ok(struct buf *out, bool is_json, struct slice text)
{
    if (!is_json) {
        buf_add(out, SLICE_OF("OK|"));
        buf_add(out, text);
        return;
    }
    buf_add(out, SLICE_OF("{\"status\":1,\"request\":"));
    json_add_string(out, text);
    buf_add_char(out, '}');
}

void dialect_write_word(struct buf *out, bool is_json, struct slice word)
{
    if (!is_json) {
        buf_add(out, word);
        return;
    }
    buf_add(out, SLICE_OF("{\"status\":0,\"request\":"));
    json_add_string(out, word);
    buf_add_char(out, '}');
}

static struct slice refusal_word(const struct answer *answer)
{
    switch (answer->refusal) {
    case REFUSAL_FULL_REQUESTS:
    case REFUSAL_FULL_FLIGHTS:
    case REFUSAL_FULL_PER_FLIGHT:
    case REFUSAL_FULL_CLIENT:
    case REFUSAL_DRAINING:
    case REFUSAL_STORE:
    case REFUSAL_STORE_AWAY:
        return SLICE_OF("ERROR_NO_SLOT_AVAILABLE");
    case REFUSAL_BUDGET:
        return SLICE_OF("ERROR_ZERO_BALANCE");
    case REFUSAL_BREAKER:
        return slice_from(answer->code);
    case REFUSAL_MISMATCH:
        return SLICE_OF("ERROR_IDEMPOTENCY_MISMATCH");
    case REFUSAL_UNKNOWN_ID:
        return SLICE_OF("ERROR_WRONG_CAPTCHA_ID");
    case REFUSAL_NOT_SOLVED:
        return SLICE_OF("REPORT_NOT_RECORDED");
    case REFUSAL_NONE:
    case REFUSAL_COUNT:
        break;
    }
    UNREACHABLE();
}

struct slice dialect_word(const struct answer *answer)
{
    if (answer->refusal != REFUSAL_NONE)
        return refusal_word(answer);
    if (answer->state == REQUEST_FAILED)
        return slice_from(answer->code);
    return NOT_READY;
}

/* Puts everything where the vendor had it: members besides the answer (user_agent, challenge, …)
 * next to `request`, and the answer also in `result` if it came there. */
static void write_solution_json(struct buf *out, const struct answer *answer, struct slice price)
{
    const struct slice extra = blob_slice(answer->extra);
    buf_add(out, SLICE_OF("{\"status\":1,"));
    if (!slice_starts_with(extra, SLICE_OF("{\"request\":"))) {
        buf_add(out, SLICE_OF("\"request\":"));
        json_add_bytes(out, blob_slice(answer->text));
        if (extra.len > 2)
            buf_add_char(out, ',');
    }
    if (extra.len > 2)
        buf_add(out, (struct slice){.data = extra.data + 1, .len = extra.len - 2});
    if (slice_is_given(price)) {
        buf_add(out, SLICE_OF(",\"price\":"));
        json_add_string(out, price);
    }
    buf_add_char(out, '}');
}

void dialect_write_result(struct buf *out, bool is_json, const struct answer *answer,
                          struct slice price)
{
    if (answer->refusal != REFUSAL_NONE || answer->state != REQUEST_SOLVED) {
        dialect_write_word(out, is_json, dialect_word(answer));
        return;
    }
    if (is_json) {
        write_solution_json(out, answer, price);
        return;
    }
    dialect_write_ok(out, false, blob_slice(answer->text));
    if (slice_is_given(price)) {
        buf_add_char(out, '|');
        buf_add(out, price);
    }
}

void dialect_write_part(struct buf *out, const struct answer *answer)
{
    const bool is_solved = answer->refusal == REFUSAL_NONE && answer->state == REQUEST_SOLVED;
    buf_add(out, is_solved ? blob_slice(answer->text) : dialect_word(answer));
}

static void write_threads(struct buf *out, const struct probed *probed)
{
    /* The vendor's own form: no status, and the plan's threads as text. */
    buf_add(out, SLICE_OF("{\"threads\":\""));
    buf_add_u64(out, probed->threads);
    buf_add(out, SLICE_OF("\",\"working_threads\":"));
    buf_add_u64(out, probed->working_threads);
    buf_add_char(out, '}');
}

void dialect_write_account(struct buf *out, bool is_json, const struct probed *probed)
{
    if (!probed->is_ok) {
        const struct slice code = slice_from(probed->code);
        dialect_write_word(out, is_json,
                           code.len > 0 ? code : SLICE_OF("ERROR_INTERNAL_SERVER_ERROR"));
    } else if (probed->probe == PROBE_THREADS) {
        write_threads(out, probed);
    } else if (is_json) {
        dialect_write_ok(out, true, slice_from(probed->balance));
    } else {
        buf_add(out, slice_from(probed->balance));
    }
}
