#include "proto/vendor.h"

#include "proto/vendor_date.h"
#include "proto/vendor_errors.h"
#include "proto/vendor_reply.h"
#include "proto/vendor_solution.h"
#include "proto/vendor_text.h"

#include <solvegate/words.h>

#include <stdio.h>

/* The longest ban that the vendor documents; the engine's own cap is usually shorter. */
#define RETRY_AFTER_CAP_MS 600000u
#define HTTP_TOO_MANY 429

/* Our own codes, in the vendor's style, for failures that the vendor did not name. */
static const char UPSTREAM_UNREACHABLE[] = "ERROR_UPSTREAM_UNREACHABLE";
static const char NO_REPLY[] = "ERROR_UPSTREAM_NO_REPLY";
static const char UNKNOWN_REPLY[] = "ERROR_UNKNOWN_REPLY";
static const char BAD_TASK_ID[] = "ERROR_BAD_TASK_ID";
static const char TOO_MANY[] = "ERROR_TOO_MUCH_REQUESTS";

static void set_code(char out[ERROR_CODE_MAX], struct slice code)
{
    /* The vendor's bytes go into logs, metrics and answers only if they look like a code. */
    const struct slice safe = vendor_is_code(code) ? code : slice_from(UNKNOWN_REPLY);
    memcpy(out, safe.data, safe.len);
    out[safe.len] = '\0';
}

static void conclude(struct vendor_result *result, enum outcome outcome, enum error_class class,
                     const char *code)
{
    result->outcome = outcome;
    result->class = class;
    set_code(result->code, slice_from(code));
}

static void set_task_id(struct vendor_result *result, struct slice id)
{
    memcpy(result->task_id, id.data, id.len);
    result->task_id[id.len] = '\0';
}

/* Resets the result but keeps the members that the caller filled in. */
static void begin(struct vendor_result *result, const struct vendor_reply *reply)
{
    *result = (struct vendor_result){.attempt = result->attempt, .caller = result->caller};
    if (reply != NULL)
        result->retry_after_ms =
            vendor_retry_after_ms(reply->retry_after, reply->wall_ms, RETRY_AFTER_CAP_MS);
}

/* Explains a reply without a statement: nothing arrived, an HTTP error, or nonsense. */
static void explain_silence(struct vendor_result *result, const struct vendor_reply *reply,
                            enum outcome outcome, enum error_class class)
{
    char code[ERROR_CODE_MAX];
    const long status = reply->http_status;
    if (status == 0)
        conclude(result, outcome, class, NO_REPLY);
    else if (status >= 200 && status < 300)
        conclude(result, outcome, class, UNKNOWN_REPLY);
    else if (snprintf(code, sizeof code, "ERROR_UPSTREAM_HTTP_%ld", status) > 0)
        conclude(result, outcome, class, code);
}

/* Fills in class, code and documented wait of the vendor's code; true if the code is known. */
static bool name_error(const struct vendor_options *options, struct slice word,
                       struct vendor_result *result)
{
    struct vendor_error found;
    const bool is_known = vendor_find_error(options, word, &found);
    result->class = found.class;
    result->is_short = found.is_short;
    set_code(result->code, word);
    if (result->retry_after_ms == 0)
        result->retry_after_ms = found.wait_ms;
    return is_known;
}

static bool is_success(const struct vendor_reply *reply)
{
    return reply->http_status >= 200 && reply->http_status < 300;
}

/* ---- submit ------------------------------------------------------------------------------ */

static bool has_only_digits(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return true;
}

static void read_accepted(const struct reading *reading, struct vendor_result *result)
{
    /* "-5" and "1e5" are JSON numbers and would pass as ids, so only digits are accepted. */
    const bool is_id =
        vendor_is_task_id(reading->text) && (!reading->is_number || has_only_digits(reading->text));
    if (!is_id) {
        /* The vendor accepted the task but gave no usable id: only a callback can tell its result. */
        conclude(result, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, BAD_TASK_ID);
        return;
    }
    result->outcome = OUTCOME_ACCEPTED;
    set_task_id(result, reading->text);
}

static void read_rejected(const struct vendor_options *options, const struct vendor_reply *reply,
                          struct slice word, struct vendor_result *result)
{
    const bool is_known = name_error(options, word, result);
    /* With an HTTP error only a known code counts: error pages hold all kinds of words. And "not
     * ready" is no answer to a submit. */
    const bool is_no = (is_known || is_success(reply)) && result->class != CLASS_PENDING &&
                       result->class != CLASS_AMBIGUOUS;
    result->outcome = is_no ? OUTCOME_REJECTED : OUTCOME_AMBIGUOUS;
    if (!is_no)
        result->class = CLASS_AMBIGUOUS;
}

void vendor_read_submit(const struct vendor_options *options, const struct vendor_reply *reply,
                        struct vendor_result *result)
{
    begin(result, reply);
    if (!reply->is_sent) {
        conclude(result, OUTCOME_NOT_SENT, CLASS_TRANSIENT, UPSTREAM_UNREACHABLE);
        return;
    }
    if (reply->http_status == HTTP_TOO_MANY) {
        conclude(result, OUTCOME_REJECTED, CLASS_BUSY, TOO_MANY);
        return;
    }
    struct reading reading;
    reading_open(&reading, options, reply, true);
    if (reading.kind == READING_ANSWER && is_success(reply))
        read_accepted(&reading, result);
    else if (reading.kind == READING_ERROR)
        read_rejected(options, reply, reading.text, result);
    else
        explain_silence(result, reply, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS);
    reading_close(&reading);
}

/* ---- poll -------------------------------------------------------------------------------- */

/* The vendor rejects the id or action of a call that we wrote ourselves: the caller made no
 * mistake, and the paid task is gone. */
static bool is_our_mistake(struct slice word)
{
    return slice_equals(word, SLICE_OF("ERROR_WRONG_CAPTCHA_ID")) ||
           slice_equals(word, SLICE_OF("ERROR_WRONG_ID_FORMAT")) ||
           slice_equals(word, SLICE_OF("ERROR_EMPTY_ACTION"));
}

/* Translates an error of a poll into the outcome of its task. Errors of the account, the rate or the server concern
 * only this call: the task goes on, and giving it up would pay twice. */
static enum outcome poll_outcome(enum error_class class)
{
    switch (class) {
    case CLASS_PENDING:
        return OUTCOME_PENDING;
    case CLASS_BUSY:
    case CLASS_ACCOUNT:
    case CLASS_TRANSIENT:
    case CLASS_AMBIGUOUS:
    case CLASS_TIMEOUT:
        return OUTCOME_UNHEARD;
    case CLASS_NONE:
    case CLASS_UNSOLVABLE:
    case CLASS_CALLER:
    case CLASS_PROXY:
    case CLASS_UNKNOWN:
    case CLASS_COUNT:
        return OUTCOME_FAILED;
    }
    return OUTCOME_FAILED;
}

static void read_poll_error(const struct vendor_options *options, const struct vendor_reply *reply,
                            struct slice word, struct vendor_result *result)
{
    if (!name_error(options, word, result) && !is_success(reply)) {
        explain_silence(result, reply, OUTCOME_UNHEARD, CLASS_TRANSIENT);
        return;
    }
    if (result->class == CLASS_CALLER && is_our_mistake(word))
        result->class = CLASS_UNKNOWN;
    result->outcome = poll_outcome(result->class);
}

/* A success makes any text a solution, even one that looks like an error. "Not ready" is taken
 * literally: polling again costs nothing. */
static bool is_solved(const struct vendor_options *options, const struct reading *reading)
{
    if (reading->kind == READING_ERROR)
        return reading->is_yes && vendor_classify(options, reading->text) != CLASS_PENDING;
    return reading_is_answer(reading);
}

/* The answer is paid for but cannot be handed out: its bytes are kept for the operator. */
static void keep_bytes(struct vendor_result *result, struct slice bytes, struct slice code)
{
    if (bytes.len > VENDOR_REPLY_MAX_BYTES)
        bytes.len = VENDOR_REPLY_MAX_BYTES;
    conclude(result, OUTCOME_UNDELIVERABLE, CLASS_UNKNOWN, code.data);
    result->text = blob_new(bytes);
}

static void keep_reply(struct vendor_result *result, const struct vendor_reply *reply)
{
    const bool is_huge = reply->is_too_big || reply->body.len > SOLUTION_MAX_BYTES;
    keep_bytes(result, reply->body, is_huge ? CODE_HUGE_SOLUTION : CODE_BAD_SOLUTION);
}

static void read_solved(const struct reading *reading, const struct vendor_reply *reply,
                        struct vendor_result *result)
{
    reading_solution(reading, &result->text, &result->extra);
    if (result->text != NULL)
        result->outcome = OUTCOME_SOLVED;
    else
        keep_reply(result, reply);
}

/* Refusals and "not ready" are short, so a reply that was cut for its length and has the form of an
 * answer is one. */
static bool is_huge_answer(const struct vendor_reply *reply, const struct reading *reading)
{
    const struct slice body = vendor_trim(reply->body);
    return reply->is_too_big && is_success(reply) && !reading->is_no &&
           (slice_starts_with(body, SLICE_OF("OK|")) || slice_starts_with(body, SLICE_OF("{")));
}

void vendor_read_poll(const struct vendor_options *options, const struct vendor_reply *reply,
                      struct vendor_result *result)
{
    begin(result, reply);
    if (!reply->is_sent) {
        conclude(result, OUTCOME_UNHEARD, CLASS_TRANSIENT, UPSTREAM_UNREACHABLE);
        return;
    }
    if (reply->http_status == HTTP_TOO_MANY) {
        conclude(result, OUTCOME_UNHEARD, CLASS_BUSY, TOO_MANY);
        return;
    }
    if (reply->http_status >= 500) {
        explain_silence(result, reply, OUTCOME_UNHEARD, CLASS_TRANSIENT);
        return;
    }
    struct reading reading;
    reading_open(&reading, options, reply, reply->is_too_big);
    const bool is_unreadable =
        reading.kind == READING_UNREADABLE && is_success(reply) && reply->is_complete;
    if (is_huge_answer(reply, &reading) || is_unreadable)
        keep_reply(result, reply);
    else if (is_solved(options, &reading) && is_success(reply))
        read_solved(&reading, reply, result);
    else if (reading.kind == READING_ERROR)
        read_poll_error(options, reply, reading.text, result);
    else
        explain_silence(result, reply, OUTCOME_UNHEARD, CLASS_TRANSIENT);
    reading_close(&reading);
}

/* ---- callback ---------------------------------------------------------------------------- */

void vendor_read_callback(const struct vendor_options *options, struct slice id, struct slice code,
                          struct vendor_result *result)
{
    begin(result, NULL);
    if (vendor_is_task_id(id))
        set_task_id(result, id);
    if (vendor_is_error(options, code)) {
        (void)name_error(options, code, result);
        if (result->class == CLASS_CALLER && is_our_mistake(code))
            result->class = CLASS_UNKNOWN;
        result->outcome = result->class == CLASS_PENDING ? OUTCOME_PENDING : OUTCOME_FAILED;
    } else if (vendor_is_solution(code)) {
        result->outcome = OUTCOME_SOLVED;
        result->text = blob_new(code);
    } else if (code.len > 0) {
        keep_bytes(result, code, CODE_HUGE_SOLUTION);
    } else {
        /* The callback says nothing about the task, and a poll can still find out. */
        conclude(result, OUTCOME_UNHEARD, CLASS_TRANSIENT, CODE_BAD_SOLUTION.data);
    }
}

/* ---- probe ------------------------------------------------------------------------------- */

static bool is_balance(struct slice text, size_t room)
{
    bool has_digit = false;
    if (text.len >= room)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const bool is_digit = text.data[i] >= '0' && text.data[i] <= '9';
        /* strchr also finds the NUL. */
        if (!is_digit && (text.data[i] == '\0' || strchr("+-.,eE", text.data[i]) == NULL))
            return false;
        has_digit = has_digit || is_digit;
    }
    return has_digit;
}

static void read_balance(struct slice text, struct probed *probed)
{
    if (!is_balance(text, sizeof probed->balance))
        return;
    memcpy(probed->balance, text.data, text.len);
    probed->balance[text.len] = '\0';
    probed->is_ok = true;
}

static void read_threads(const struct reading *reading, struct probed *probed)
{
    uint32_t threads = 0;
    uint32_t working = 0;
    if (!reading_member_u32(reading, "threads", &threads))
        return;
    (void)reading_member_u32(reading, "working_threads", &working);
    probed->has_threads = true;
    probed->threads = threads;
    probed->working_threads = working;
    probed->is_ok = true;
}

/* JSON or OK|number if the vendor replies so; plain getbalance is a bare number. */
static struct slice balance_text(const struct reading *reading, const struct vendor_reply *reply)
{
    if (reading->kind == READING_ANSWER || reading->doc != NULL || !reply->is_complete)
        return reading->text;
    return vendor_trim(reply->body);
}

static void explain_probe(const struct vendor_options *options, const struct vendor_reply *reply,
                          const struct reading *reading, struct probed *probed)
{
    struct vendor_result why = {.attempt = 0};
    if (!reply->is_sent)
        conclude(&why, OUTCOME_UNHEARD, CLASS_TRANSIENT, UPSTREAM_UNREACHABLE);
    else if (reply->http_status == HTTP_TOO_MANY)
        conclude(&why, OUTCOME_UNHEARD, CLASS_BUSY, TOO_MANY);
    else if (reading->kind != READING_ERROR ||
             (!name_error(options, reading->text, &why) && !is_success(reply)))
        explain_silence(&why, reply, OUTCOME_UNHEARD, CLASS_TRANSIENT);
    probed->class = why.class;
    probed->is_short = why.is_short;
    memcpy(probed->code, why.code, sizeof probed->code);
}

void vendor_read_probe(const struct vendor_options *options, const struct vendor_reply *reply,
                       enum probe probe, struct probed *probed)
{
    *probed = (struct probed){.probe = probe};
    struct reading reading;
    reading_open(&reading, options, reply, false);
    const bool is_answer = is_success(reply) && reading.kind != READING_ERROR;
    if (is_answer && probe == PROBE_THREADS)
        read_threads(&reading, probed);
    else if (is_answer)
        read_balance(balance_text(&reading, reply), probed);
    if (!probed->is_ok)
        explain_probe(options, reply, &reading, probed);
    reading_close(&reading);
}
