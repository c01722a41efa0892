#include "sim/polls.h"

#include "sim/speak.h"
#include "sim/text.h"

#define LONG_ID_DIGITS 23
#define IDS_MAX 1000

/* The task with this id for the holder of this key. Ids are compared as text: one that lost its
 * leading zeros does not match. */
static struct task *find_task(struct vendor *vendor, struct slice id, const char **code)
{
    const bool is_long = vendor->options->ids == IDS_LONG;
    unsigned long long number;

    *code = "ERROR_WRONG_ID_FORMAT";
    if (!slice_to_u64(id, &number))
        return NULL;
    *code = "ERROR_WRONG_CAPTCHA_ID";
    if (is_long ? id.len != LONG_ID_DIGITS : id.data[0] == '0')
        return NULL;
    struct task *task = tasks_find(&vendor->tasks, number);
    if (task == NULL || task->state == TASK_EXPIRED ||
        task->owner != text_hash(params_get(&vendor->params, SLICE_OF("key"))))
        return NULL;
    vendor_settle_if_due(vendor, task);
    return task;
}

static const char *task_code(struct vendor *vendor, const struct task *task)
{
    if (task->state == TASK_SOLVING) {
        vendor->totals.polls_pending++;
        return "CAPCHA_NOT_READY";
    }
    if (task->state == TASK_FAILED) {
        vendor->totals.polls_failed++;
        return task->error;
    }
    vendor->totals.polls_ready++;
    return NULL;
}

static void note_read(struct vendor *vendor, struct task *task)
{
    if (task->state == TASK_SOLVING)
        return;
    task->reads++;
    if (vendor->options->is_read_once)
        vendor_expire(vendor, task);
}

static void speak_answer(struct vendor *vendor, struct http_reply *reply, const struct task *task,
                         bool has_price)
{
    struct slice price = SLICE_NONE;

    if (has_price) {
        buf_reset(&vendor->scratch);
        plan_add_amount(&vendor->scratch, vendor->options->price_micros);
        price = buf_slice(&vendor->scratch);
    }
    vendor->outcome = "ready";
    const bool is_json = speak_begin(vendor, reply);
    if (task->reply != NULL)
        buf_add(reply->body, slice_from(task->reply));
    else if (is_json)
        answer_add_json(reply->body, task, &vendor->style, price);
    else
        answer_add_plain(reply->body, task, &vendor->style, price);
}

static struct fault poll_fault(struct vendor *vendor, const struct task *task)
{
    struct fault fault = task == NULL ? (struct fault){.row = NULL} : task->poll_fault;

    if (fault.row == NULL)
        fault = faults_draw(&vendor->faults, PLACE_POLL, &vendor->params);
    else
        faults_count(&vendor->faults, &fault);
    if (fault_kind(&fault) != FAULT_NONE)
        vendor->totals.faults++;
    return fault;
}

static void serve_get(struct vendor *vendor, struct http_reply *reply, bool has_price)
{
    const char *code;
    struct task *task = find_task(vendor, params_get(&vendor->params, SLICE_OF("id")), &code);
    const struct fault fault = poll_fault(vendor, task);

    vendor->totals.polls++;
    if (fault_kind(&fault) == FAULT_ERROR) {
        speak_error(vendor, reply, fault.text);
        return;
    }
    if (task == NULL)
        vendor->totals.polls_failed++;
    else
        code = task_code(vendor, task);
    if (code != NULL)
        speak_error(vendor, reply, code);
    else
        speak_answer(vendor, reply, task, has_price);
    if (task != NULL)
        note_read(vendor, task);
    speak_fault(vendor, reply, &fault);
}

/* Adds one of several results: the bare answer or code, without OK. */
static void add_one(struct vendor *vendor, struct buf *list, struct slice id)
{
    const char *code;
    struct task *task = find_task(vendor, slice_trim(id), &code);

    vendor->totals.polls++;
    if (task == NULL)
        vendor->totals.polls_failed++;
    else
        code = task_code(vendor, task);
    if (code != NULL)
        buf_add(list, slice_from(code));
    else
        answer_add_text(list, task, &vendor->style, false);
    if (task != NULL)
        note_read(vendor, task);
}

static void serve_list(struct vendor *vendor, struct http_reply *reply, struct slice ids)
{
    struct buf list;
    const struct fault fault = poll_fault(vendor, NULL);

    buf_init(&list, 64 << 20);
    for (size_t i = 0; i < IDS_MAX && ids.len > 0; i++) {
        if (i > 0)
            buf_add_char(&list, '|');
        add_one(vendor, &list, slice_take(&ids, ','));
    }
    vendor->outcome = "list";
    speak_ok(vendor, reply, buf_slice(&list));
    buf_close(&list);
    speak_fault(vendor, reply, &fault);
}

static void serve_report(struct vendor *vendor, struct http_reply *reply, bool is_good)
{
    const char *code;
    struct task *task = find_task(vendor, params_get(&vendor->params, SLICE_OF("id")), &code);

    if (task != NULL && task->state == TASK_SOLVING)
        code = "ERROR_REPORT_NOT_RECORDED";
    else if (task != NULL)
        code = "ERROR_DUPLICATE_REPORT";
    if (task == NULL || task->state == TASK_SOLVING || task->report != REPORT_NONE) {
        speak_error(vendor, reply, code);
        return;
    }
    task->report = is_good ? REPORT_GOOD : REPORT_BAD;
    vendor->totals.reports_good += is_good ? 1 : 0;
    vendor->totals.reports_bad += is_good ? 0 : 1;
    vendor->outcome = "recorded";
    speak_ok(vendor, reply, SLICE_OF("OK_REPORT_RECORDED"));
}

static void serve_balance(struct vendor *vendor, struct http_reply *reply)
{
    vendor->totals.balance_calls++;
    vendor->outcome = "balance";
    buf_reset(&vendor->scratch);
    plan_add_amount(&vendor->scratch, vendor->plan.balance_micros);
    speak_ok(vendor, reply, buf_slice(&vendor->scratch));
}

/* The vendor sends no status here and quotes inconsistently. Its plain form is unknown. */
static void serve_threads(struct vendor *vendor, struct http_reply *reply)
{
    const enum threads_form form = vendor->options->threads;
    const char *first = form == THREADS_NUMBER ? "" : "\"";
    const char *second = form == THREADS_STRING ? "\"" : "";

    vendor->totals.threads_calls++;
    vendor->outcome = "threads";
    (void)speak_begin(vendor, reply);
    reply->content_type = "application/json";
    buf_addf(reply->body, "{\"threads\":%s%llu%s,\"working_threads\":%s%llu%s}", first,
             (unsigned long long)plan_threads(&vendor->plan), first, second,
             (unsigned long long)vendor->tasks.in_flight, second);
}

static void serve_account(struct vendor *vendor, struct http_reply *reply, struct slice action)
{
    if (slice_equals(action, SLICE_OF("getbalance")))
        serve_balance(vendor, reply);
    else if (slice_equals(action, SLICE_OF("threadsinfo")))
        serve_threads(vendor, reply);
    else if (slice_equals(action, SLICE_OF("reportgood")))
        serve_report(vendor, reply, true);
    else if (slice_equals(action, SLICE_OF("reportbad")))
        serve_report(vendor, reply, false);
    else
        speak_error(vendor, reply, action.len == 0 ? "ERROR_EMPTY_ACTION" : "ERROR_BAD_PARAMETERS");
}

static void serve_account_or_fault(struct vendor *vendor, struct http_reply *reply,
                                   struct slice action)
{
    const struct fault fault = faults_draw(&vendor->faults, PLACE_ACCOUNT, &vendor->params);

    if (fault_kind(&fault) != FAULT_NONE)
        vendor->totals.faults++;
    if (fault_kind(&fault) == FAULT_ERROR) {
        speak_error(vendor, reply, fault.text);
        return;
    }
    serve_account(vendor, reply, action);
    speak_fault(vendor, reply, &fault);
}

void polls_serve(struct vendor *vendor, struct http_reply *reply)
{
    const struct params *params = &vendor->params;
    const struct slice action = params_get(params, SLICE_OF("action"));
    const char *code = plan_check_key(&vendor->plan, params_get(params, SLICE_OF("key")));
    const bool is_get2 = slice_equals(action, SLICE_OF("get2"));

    if (code != NULL) {
        speak_error(vendor, reply, code);
        return;
    }
    if (!is_get2 && !slice_equals(action, SLICE_OF("get"))) {
        serve_account_or_fault(vendor, reply, action);
        return;
    }
    const struct slice ids = params_get(params, SLICE_OF("ids"));
    if (ids.len > 0)
        serve_list(vendor, reply, ids);
    else
        serve_get(vendor, reply, is_get2);
}
