/* Vendor replies: whatever arrives, the result is one the engine may believe; "not ready" is never handed to callers
 * as a solution, and a reply that was cut short never says something else than the whole one.
 *
 * Input: a byte of flags, a byte for the HTTP status, a line of Retry-After, then the body. */
#include "fuzz.h"

#include "proto/api.h"
#include "proto/dialect_write.h"
#include "proto/json_out.h"
#include "proto/vendor.h"
#include "proto/vendor_date.h"
#include "proto/vendor_errors.h"
#include "proto/vendor_reply.h"
#include "proto/vendor_text.h"

#include <stdlib.h>

#define RETRY_AFTER_MOST_MS 600000

static const struct error_override overrides[] = {
    {.code = "ERROR_OVERRIDDEN", .class = CLASS_TRANSIENT},
    {.code = "ERROR_PAGEURL", .class = CLASS_PENDING},
};
static const struct vendor_options options = {.overrides = overrides, .override_count = 2};

static void check_common(const struct vendor_result *result)
{
    const struct slice code = slice_from(result->code);
    HOLDS(result->attempt == 5 && result->caller == 6 && result->class < CLASS_COUNT);
    HOLDS(result->retry_after_ms <= RETRY_AFTER_MOST_MS);
    HOLDS((result->outcome == OUTCOME_SOLVED || result->outcome == OUTCOME_UNDELIVERABLE) ==
          (result->text != NULL));
    HOLDS(result->extra == NULL || result->text != NULL);
    const bool is_good = result->outcome == OUTCOME_SOLVED || result->outcome == OUTCOME_ACCEPTED;
    HOLDS(is_good == (code.len == 0) && (code.len == 0 || vendor_is_code(code)));
    HOLDS((result->outcome == OUTCOME_ACCEPTED) == (result->task_id[0] != '\0'));
    if (result->outcome == OUTCOME_ACCEPTED)
        HOLDS(vendor_is_task_id(slice_from(result->task_id)));
}

/* ---- submit ------------------------------------------------------------------------------ */

static struct vendor_result read_submit(const struct vendor_reply *reply)
{
    struct vendor_result result = {.attempt = 5, .caller = 6};
    vendor_read_submit(&options, reply, &result);
    check_common(&result);
    HOLDS(result.text == NULL);
    return result;
}

/* Every way to cut it: an id is that of the whole reply, or it is uncertain. */
static void check_cuts(const struct vendor_reply *reply, const struct vendor_result *whole)
{
    const size_t step = reply->body.len / 64 + 1;
    for (size_t len = 0; len < reply->body.len; len += step) {
        char *bytes = exact_copy((struct slice){.data = reply->body.data, .len = len});
        struct vendor_reply cut = *reply;
        cut.is_complete = false;
        cut.body = (struct slice){.data = bytes, .len = len};
        const struct vendor_result result = read_submit(&cut);
        HOLDS(result.outcome == OUTCOME_AMBIGUOUS ||
              (result.outcome == OUTCOME_ACCEPTED && strcmp(result.task_id, whole->task_id) == 0));
        free(bytes);
    }
}

static void check_submit(const struct vendor_reply *reply)
{
    const struct vendor_result result = read_submit(reply);
    HOLDS((result.outcome == OUTCOME_NOT_SENT) == !reply->is_sent);
    HOLDS(result.outcome == OUTCOME_NOT_SENT || result.outcome == OUTCOME_ACCEPTED ||
          result.outcome == OUTCOME_REJECTED || result.outcome == OUTCOME_AMBIGUOUS);
    HOLDS((result.outcome == OUTCOME_AMBIGUOUS) == (result.class == CLASS_AMBIGUOUS));
    if (result.outcome == OUTCOME_ACCEPTED)
        check_cuts(reply, &result);
}

/* ---- poll -------------------------------------------------------------------------------- */

/* What we say about a solution, a gateway behind us would read the same. */
static void check_relayed(const struct vendor_result *result)
{
    const struct answer answer = {
        .id = 1, .state = REQUEST_SOLVED, .text = result->text, .extra = result->extra};
    const struct slice text = blob_slice(result->text);
    struct buf out;
    buf_init(&out, (size_t)4 << 20);
    dialect_write_result(&out, true, &answer, SLICE_NONE);
    const struct vendor_reply reply = {
        .is_sent = true, .is_complete = true, .http_status = 200, .body = buf_slice(&out)};
    struct vendor_result again = {.attempt = 5, .caller = 6};
    vendor_read_poll(&options, &reply, &again);
    HOLDS(again.outcome == OUTCOME_SOLVED && again.text->len > 0);
    /* Of an answer that stands in further members we make a `request`, and its text form is another. */
    HOLDS(result->extra != NULL || slice_equals(blob_slice(again.text), text));
    blob_unref(again.text);
    blob_unref(again.extra);
    buf_reset(&out);
    api_write_answer(&out, &answer);
    HOLDS(json_is_valid(buf_slice(&out)));
    struct buf meant;
    buf_init(&meant, 3 * SOLUTION_MAX_BYTES);
    utf8_repair(text, &meant);
    HOLDS(result->extra != NULL || json_has_string(buf_slice(&out), "solution", buf_slice(&meant)));
    buf_close(&meant);
    buf_close(&out);
}

static void check_poll(const struct vendor_reply *reply)
{
    struct vendor_result result = {.attempt = 5, .caller = 6};
    vendor_read_poll(&options, reply, &result);
    check_common(&result);
    HOLDS(result.outcome == OUTCOME_PENDING || result.outcome == OUTCOME_SOLVED ||
          result.outcome == OUTCOME_FAILED || result.outcome == OUTCOME_UNHEARD ||
          result.outcome == OUTCOME_UNDELIVERABLE);
    HOLDS((result.outcome == OUTCOME_PENDING) == (result.class == CLASS_PENDING));
    HOLDS(reply->is_sent || result.outcome == OUTCOME_UNHEARD);
    if (result.outcome == OUTCOME_SOLVED) {
        HOLDS(vendor_is_solution(blob_slice(result.text)));
        HOLDS(vendor_classify(&options, blob_slice(result.text)) != CLASS_PENDING);
        check_relayed(&result);
    }
    blob_unref(result.text);
    blob_unref(result.extra);
}

/* ---- the rest ---------------------------------------------------------------------------- */

static void check_probe(const struct vendor_reply *reply, enum probe probe)
{
    struct probed probed;
    struct buf out;
    vendor_read_probe(&options, reply, probe, &probed);
    HOLDS(probed.probe == probe && probed.class < CLASS_COUNT);
    HOLDS(probed.is_ok != vendor_is_code(slice_from(probed.code)));
    HOLDS(!probed.is_ok || reply->http_status / 100 == 2);
    if (probed.is_ok)
        HOLDS(probe == PROBE_THREADS ? probed.has_threads : probed.balance[0] != '\0');
    buf_init(&out, 4096);
    dialect_write_account(&out, true, &probed);
    HOLDS(json_is_valid(buf_slice(&out)));
    buf_reset(&out);
    dialect_write_account(&out, false, &probed);
    HOLDS(slice_is_printable(buf_slice(&out)));
    buf_close(&out);
}

static void check_callback(struct slice body)
{
    struct vendor_result result = {.attempt = 5, .caller = 6};
    vendor_read_callback(&options, body, body, &result);
    HOLDS((result.outcome == OUTCOME_SOLVED || result.outcome == OUTCOME_UNDELIVERABLE) ==
              (result.text != NULL) &&
          result.extra == NULL);
    HOLDS(result.outcome != OUTCOME_SOLVED || !vendor_is_error(&options, body));
    HOLDS(result.task_id[0] == '\0' || slice_equals(slice_from(result.task_id), body));
    blob_unref(result.text);
}

/* By its whole name, overrides first; everything else is unknown. */
static void check_class(struct slice body)
{
    size_t count = 0;
    const struct vendor_error *table = vendor_errors(&count);
    enum error_class expected = CLASS_UNKNOWN;
    for (size_t i = 0; i < count; i++)
        if (slice_equals(table[i].code, body))
            expected = table[i].class;
    for (size_t i = 0; i < options.override_count; i++)
        if (slice_equals(slice_from(overrides[i].code), body))
            expected = overrides[i].class;
    HOLDS(vendor_classify(&options, body) == expected);
}

static void check_retry_after(struct slice text, int64_t wall_ms)
{
    const uint32_t long_ms = vendor_retry_after_ms(text, wall_ms, UINT32_MAX);
    const uint32_t short_ms = vendor_retry_after_ms(text, wall_ms, 60000);
    HOLDS(short_ms <= 60000 && short_ms <= long_ms);
    HOLDS(short_ms == 60000 || short_ms == long_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const long statuses[] = {200, 0, 201, 204, 302, 400, 403, 404, 429, 500, 502, 503, 599};
    struct input input = {.data = data, .len = size};
    const uint8_t flags = input_byte(&input);
    struct vendor_reply reply = {
        .is_sent = (flags & 1) == 0,
        .is_complete = (flags & 2) == 0,
        .is_too_big = (flags & 4) != 0,
        .http_status = statuses[input_below(&input, sizeof(statuses) / sizeof(statuses[0]))],
        /* 2023-11-14, so that dates of today are seconds away. */
        .wall_ms = INT64_C(1700000000000),
    };
    const struct slice line = input_line(&input);
    reply.retry_after = line.len == 0 ? SLICE_NONE : line;
    const struct slice rest = input_rest(&input);
    char *bytes = exact_copy(rest);
    reply.body = (struct slice){.data = bytes, .len = rest.len};
    check_submit(&reply);
    check_poll(&reply);
    check_probe(&reply, PROBE_BALANCE);
    check_probe(&reply, PROBE_THREADS);
    check_callback(reply.body);
    check_class(reply.body);
    check_retry_after(line, reply.wall_ms);
    free(bytes);
    return 0;
}
