/* Replies of the createTask dialect. Clients read them strictly: no member beyond the known ones,
 * errorId 0 or 1, all three members in every error (docs/createtask.md). */
#include "proto/task_write.h"

#include "proto/api.h"
#include "proto/dialect_write.h"
#include "proto/json_out.h"
#include "proto/task_read.h"
#include "proto/task_solution.h"

#define SENTENCE_MAX 512

/* ---- errors ------------------------------------------------------------------------------ */

/* The dialect's code for a word of the vendor's; a sentence in the dialect's terms, or NULL. */
struct error_row {
    struct slice word, code;
    const char *sentence;
};

#define WORD(literal) {literal, sizeof(literal) - 1}

static const struct error_row *find_error(struct slice word)
{
    static const struct error_row rows[] = {
        {WORD("ERROR_WRONG_USER_KEY"), WORD("ERROR_KEY_DOES_NOT_EXIST"),
         "clientKey is missing or is not a key of this gateway"},
        {WORD("ERROR_WRONG_CAPTCHA_ID"), WORD("ERROR_NO_SUCH_CAPCHA_ID"), NULL},
        {WORD("ERROR_WRONG_ID_FORMAT"), WORD("ERROR_NO_SUCH_CAPCHA_ID"),
         "taskId is not a number that createTask returned"},
        {WORD("ERROR_BAD_PROXY"), WORD("ERROR_PROXY_CONNECT_REFUSED"), NULL},
        {WORD("ERROR_PROXY_CONNECTION_FAILED"), WORD("ERROR_PROXY_CONNECT_REFUSED"), NULL},
        {WORD("ERROR_PAGEURL"), WORD("ERROR_PAGEURL"),
         "websiteURL is missing or is not an http or https URL"},
        {WORD("ERROR_GOOGLEKEY"), WORD("ERROR_GOOGLEKEY"), "websiteKey is missing or malformed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (slice_equals(rows[i].word, word))
            return &rows[i];
    return NULL;
}

static void open_error(struct buf *out, struct slice word, struct slice detail, bool has_status)
{
    const struct error_row *const row = find_error(word);
    const struct slice code = row == NULL ? word : row->code;
    json_open(out, '{');
    json_number(out, "errorId", 1);
    json_text(out, "errorCode", code);
    json_text(out, "errorDescription",
              row != NULL && row->sentence != NULL ? slice_from(row->sentence)
              : detail.len > 0                     ? detail
                                                   : code);
    if (has_status)
        json_string(out, "status", "failed");
}

void task_write_error(struct buf *out, struct slice word, struct slice detail, bool has_status)
{
    open_error(out, word, detail, has_status);
    json_close(out, '}');
}

static void open_failure(struct buf *out, const struct answer *answer, bool has_status)
{
    struct problem problem;
    struct buf sentence;
    buf_init(&sentence, SENTENCE_MAX);
    api_problem_of(answer, &sentence, &problem);
    open_error(out, dialect_word(answer), problem.detail, has_status);
    buf_close(&sentence);
}

/* ---- tasks ------------------------------------------------------------------------------- */

static void write_state(struct buf *out, const struct answer *answer)
{
    if (answer->state != REQUEST_SOLVED) {
        json_string(out, "status", "processing");
        return;
    }
    json_string(out, "status", "ready");
    json_member(out, "solution");
    task_write_solution(out, task_layout_of(answer->id), answer);
}

static void open_success(struct buf *out)
{
    json_open(out, '{');
    json_number(out, "errorId", 0);
}

/* A failure is told by getTaskResult. */
void task_write_created(struct buf *out, const struct answer *answer)
{
    if (answer->refusal != REFUSAL_NONE) {
        open_failure(out, answer, false);
    } else {
        open_success(out);
        json_number(out, "taskId", answer->id);
        write_state(out, answer);
    }
    json_close(out, '}');
}

/* Five digits after the point, as the services write it. */
static void json_money(struct buf *out, const char *name, uint64_t micro)
{
    uint64_t rest = micro % 1000000 / 10;
    char digits[6] = {'.'};
    for (size_t i = sizeof digits; i-- > 1; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    json_member(out, name);
    buf_add_char(out, '"');
    buf_add_u64(out, micro / 1000000);
    buf_add(out, (struct slice){.data = digits, .len = sizeof digits});
    buf_add_char(out, '"');
}

static void write_facts(struct buf *out, const struct answer *answer,
                        const struct task_facts *facts)
{
    const uint64_t now_ms = facts->wall_ms < 0 ? 0 : (uint64_t)facts->wall_ms;
    const uint64_t end_ms = now_ms > answer->age_ms ? now_ms - answer->age_ms : 0;
    const uint64_t start_ms = end_ms > answer->solve_ms ? end_ms - answer->solve_ms : 0;
    json_money(out, "cost", facts->cost_micro);
    json_number(out, "createTime", start_ms / 1000);
    json_number(out, "endTime", end_ms / 1000);
    json_number(out, "solveCount", answer->attempts);
}

void task_write_result(struct buf *out, const struct answer *answer, const struct task_facts *facts)
{
    const bool is_failed = answer->refusal != REFUSAL_NONE || answer->state == REQUEST_FAILED;
    if (is_failed)
        open_failure(out, answer, true);
    else
        open_success(out);
    if (facts->has_id)
        json_number(out, "taskId", answer->id);
    if (!is_failed)
        write_state(out, answer);
    if (!is_failed && answer->state == REQUEST_SOLVED)
        write_facts(out, answer, facts);
    json_close(out, '}');
}

void task_write_success(struct buf *out)
{
    open_success(out);
    json_string(out, "status", "success");
    json_close(out, '}');
}

/* ---- account and queue ------------------------------------------------------------------- */

/* A number that every JSON reader takes: digits, and a point with digits if it has one. */
static bool is_number(struct slice text)
{
    bool has_point = false;
    for (size_t i = 0; i < text.len; i++) {
        const bool is_point = text.data[i] == '.' && !has_point && i > 0 && i + 1 < text.len;
        if (!is_point && (text.data[i] < '0' || text.data[i] > '9'))
            return false;
        has_point |= is_point;
    }
    return text.len > 0 && !(text.len > 1 && text.data[0] == '0' && text.data[1] != '.');
}

void task_write_balance(struct buf *out, const struct probed *probed)
{
    const struct slice balance = slice_from(probed->balance);
    if (!probed->is_ok || !is_number(balance)) {
        const struct slice code = slice_from(probed->code);
        task_write_error(out, code.len > 0 ? code : SLICE_OF("ERROR_INTERNAL_SERVER_ERROR"),
                         SLICE_OF("the vendor did not tell the balance"), false);
        return;
    }
    open_success(out);
    json_raw(out, "balance", balance);
    json_close(out, '}');
}

void task_write_queue(struct buf *out, const struct task_queue *queue)
{
    const uint32_t used = queue->used > queue->total ? queue->total : queue->used;
    json_open(out, '{');
    json_number(out, "waiting", queue->total - used);
    json_member(out, "load");
    buf_addf(out, "%.2f", queue->total == 0 ? 0.0 : 100.0 * used / queue->total);
    json_money(out, "bid", queue->bid_micro);
    json_member(out, "speed");
    buf_addf(out, "%.2f", (double)queue->average_ms / 1000);
    json_number(out, "total", queue->total);
    json_close(out, '}');
}

enum type task_queue_type(struct slice queue_id)
{
    if (slice_equals(queue_id, SLICE_OF("1")) || slice_equals(queue_id, SLICE_OF("2")))
        return TYPE_IMAGE;
    if (slice_equals(queue_id, SLICE_OF("5")) || slice_equals(queue_id, SLICE_OF("6")))
        return TYPE_RECAPTCHA_V2;
    return TYPE_OTHER;
}
