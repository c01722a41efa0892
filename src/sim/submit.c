#include "sim/submit.h"

#include "sim/callbacks.h"
#include "sim/ledger.h"
#include "sim/magic.h"
#include "sim/methods.h"
#include "sim/speak.h"
#include "sim/text.h"

/* The longest time that an early callback may delay the submit's reply. */
#define EARLY_MS_MAX 5000
/* Far from any id in use, so that a wrong id never names a task. */
#define WRONG_ID_DISTANCE 900000000000ULL
#define PINGBACK_BYTES_MAX 8192

static void count_code(struct vendor *vendor, const char *code)
{
    struct code_total *total = vendor->codes;
    const struct code_total *last = &vendor->codes[TOTALS_CODES_MAX - 1];

    while (total < last && total->code != NULL && strcmp(total->code, code) != 0)
        total++;
    if (total->code == NULL)
        total->code = total == last ? "other" : text_intern(slice_from(code));
    total->count++;
}

static void reject(struct vendor *vendor, struct http_reply *reply, const char *code)
{
    vendor->totals.rejected++;
    count_code(vendor, code);
    speak_error(vendor, reply, code);
}

static bool is_refusal(const struct fault *fault)
{
    const enum fault_kind kind = fault_kind(fault);

    return kind == FAULT_CLOSE || kind == FAULT_RESET || kind == FAULT_STALL || kind == FAULT_429 ||
           kind == FAULT_5XX || kind == FAULT_ERROR;
}

static void refuse(struct vendor *vendor, struct http_reply *reply, const struct fault *fault)
{
    vendor->totals.rejected++;
    count_code(vendor, fault_kind(fault) == FAULT_ERROR ? fault->text : fault->row->name);
    vendor->outcome = fault->row->name;
    speak_fault(vendor, reply, fault);
}

/* A magic sitekey decides first, then the script, then the probabilities. */
static struct fault choose(struct vendor *vendor, const struct magic *magic, enum fault_place place)
{
    struct fault fault;

    if (!magic->is_given[place]) {
        fault = faults_draw(&vendor->faults, place, &vendor->params);
    } else {
        fault = magic->faults[place];
        faults_count(&vendor->faults, &fault);
    }
    vendor->totals.faults += fault_kind(&fault) == FAULT_NONE ? 0 : 1;
    return fault;
}

static void set_fate(struct vendor *vendor, struct task *task, const struct magic *magic,
                     const struct fault *fault)
{
    uint64_t solve_ms = vendor_solve_ms(vendor, methods_name(&vendor->params));

    if (fault_kind(fault) == FAULT_SLOW)
        solve_ms = fault->number;
    if (magic->has_solve_ms)
        solve_ms = magic->solve_ms;
    if (fault_kind(fault) == FAULT_ERROR)
        task->error = fault->text;
    if (fault_kind(fault) == FAULT_REPLY)
        task->reply = fault->text;
    task->is_never = fault_kind(fault) == FAULT_NEVER;
    task->solve_ms = solve_ms;
    task->settles_ms = task->accepted_ms + solve_ms;
    if (!task->is_never)
        clock_arm(vendor->clock, &task->timer, task->settles_ms);
}

static void add_to_ledger(struct vendor *vendor, struct task *task, const struct fault *submit,
                          const struct fault *fate)
{
    buf_reset(&vendor->scratch);
    ledger_add_params(&vendor->scratch, &vendor->params);
    tasks_add_detail(&vendor->tasks, task, blob_new(buf_slice(&vendor->scratch)));
    if (task->detail == NULL)
        return;
    task->detail->submit_fault = fault_kind(submit) == FAULT_NONE ? NULL : submit->row->name;
    task->detail->task_fault = fault_kind(fate) == FAULT_NONE ? NULL : fate->row->name;
    task->detail->callback_fault =
        fault_kind(&task->callback_fault) == FAULT_NONE ? NULL : task->callback_fault.row->name;
}

static struct blob *copy_of(const struct params *params, struct slice name, size_t most)
{
    const struct slice value = params_get(params, name);

    return value.len == 0 || value.len > most ? NULL : blob_new(value);
}

static void fill(struct vendor *vendor, struct task *task, const struct magic *magic,
                 const struct fault *submit)
{
    const struct params *params = &vendor->params;

    wheel_timer_init(&task->timer, CLOCK_TASK);
    task->accepted_ms = clock_now_ms(vendor->clock);
    task->owner = text_hash(params_get(params, SLICE_OF("key")));
    task->kind = (uint8_t)methods_answer_kind(params);
    task->is_json = speak_is_json(vendor);
    task->poll_fault = magic->faults[PLACE_POLL];
    task->pingback = copy_of(params, SLICE_OF("pingback"), PINGBACK_BYTES_MAX);
    if (task->kind == ANSWER_ENTERPRISE || task->kind == ANSWER_CLEARANCE ||
        task->kind == ANSWER_AGENT)
        task->user_agent = copy_of(params, SLICE_OF("userAgent"), 1024);
    const struct fault fate = choose(vendor, magic, PLACE_TASK);
    if (task->pingback != NULL)
        task->callback_fault = choose(vendor, magic, PLACE_CALLBACK);
    set_fate(vendor, task, magic, &fate);
    add_to_ledger(vendor, task, submit, &fate);
}

static struct task *accept(struct vendor *vendor, const struct magic *magic,
                           const struct fault *fault)
{
    struct task *task = tasks_new(&vendor->tasks, vendor_forget, vendor);

    if (task == NULL)
        return NULL;
    vendor->totals.accepted++;
    plan_charge(&vendor->plan);
    fill(vendor, task, magic, fault);
    return task;
}

static void speak_id(struct vendor *vendor, struct http_reply *reply, uint64_t number)
{
    const enum id_form form = vendor->options->ids;
    const bool is_number = form == IDS_NUMBER || (form == IDS_MIXED && number % 2 == 1);
    const bool is_json = speak_begin(vendor, reply);

    if (is_json)
        buf_add(reply->body, is_number ? SLICE_OF("{\"status\":1,\"request\":")
                                       : SLICE_OF("{\"status\":1,\"request\":\""));
    else
        buf_add(reply->body, SLICE_OF("OK|"));
    answer_add_id(reply->body, number, form);
    if (is_json)
        buf_add(reply->body, is_number ? SLICE_OF("}") : SLICE_OF("\"}"));
}

/* Solves the task at once and calls back before the submitter gets the id. */
static void go_early(struct vendor *vendor, const struct http_request *request,
                     struct http_reply *reply, struct task *task)
{
    task->is_called_back = true;
    callbacks_start(vendor, task, request->conn);
    vendor_settle(vendor, task);
    if (reply->delivery == HTTP_SEND) {
        reply->delivery = HTTP_HOLD;
        reply->amount = EARLY_MS_MAX;
    }
}

/* The reply is written when the task is solved, so only faults without a reply can apply. */
static void wait_for_answer(struct vendor *vendor, const struct http_request *request,
                            struct http_reply *reply, struct task *task, const struct fault *fault)
{
    const enum fault_kind kind = fault_kind(fault);

    reply->delivery = HTTP_WAIT;
    if (kind != FAULT_TRUNCATE && kind != FAULT_DRIP && kind != FAULT_DELAY)
        speak_fault(vendor, reply, fault);
    if (reply->delivery == HTTP_WAIT)
        task->waiter = request->conn;
}

static void accept_and_reply(struct vendor *vendor, const struct http_request *request,
                             struct http_reply *reply, const struct magic *magic,
                             const struct fault *fault, bool is_sync)
{
    struct task *task = accept(vendor, magic, fault);

    if (task == NULL) {
        reject(vendor, reply, "ERROR_NO_SLOT_AVAILABLE");
        return;
    }
    if (fault_kind(fault) == FAULT_TWICE)
        (void)accept(vendor, magic, fault);
    vendor->outcome = "accepted";
    if (is_sync) {
        wait_for_answer(vendor, request, reply, task, fault);
        return;
    }
    speak_id(vendor, reply,
             task->number + (fault_kind(fault) == FAULT_WRONG_ID ? WRONG_ID_DISTANCE : 0));
    speak_fault(vendor, reply, fault);
    if (fault_kind(&task->callback_fault) == FAULT_EARLY && !task->is_never)
        go_early(vendor, request, reply, task);
}

void submit_serve(struct vendor *vendor, const struct http_request *request,
                  struct http_reply *reply, bool is_sync)
{
    const struct params *params = &vendor->params;
    struct magic magic;

    vendor->totals.submits++;
    const char *code = plan_check_key(&vendor->plan, params_get(params, SLICE_OF("key")));
    if (code == NULL)
        code = methods_check(params, vendor->options);
    if (code == NULL && is_sync && !methods_is_image(params))
        code = "ERROR_BAD_PARAMETERS";
    if (code == NULL && magic_read(&magic, params) != 0)
        code = "ERROR_SIM_UNKNOWN_MAGIC";
    if (code == NULL)
        code = plan_check_room(&vendor->plan, vendor->tasks.in_flight);
    if (code != NULL) {
        reject(vendor, reply, code);
        return;
    }
    /* Faults are drawn last, so that only submits that would have been accepted use up a script. */
    const struct fault fault = choose(vendor, &magic, PLACE_SUBMIT);
    if (is_refusal(&fault))
        refuse(vendor, reply, &fault);
    else
        accept_and_reply(vendor, request, reply, &magic, &fault, is_sync);
}
