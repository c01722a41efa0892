#include "sim/callbacks.h"

#define CODE_BYTES_MAX (1 << 20)
/* Calls use several connections, so only a delay keeps a second one behind the first. */
#define FOLLOW_MS 100

static void count_done(struct totals *totals, int status)
{
    totals->callbacks_made++;
    if (status >= 200 && status < 300)
        totals->callbacks_ok++;
    else
        totals->callbacks_failed++;
}

void callbacks_on_done(void *context, const struct pingback_result *result)
{
    struct vendor *vendor = context;
    struct task *task = tasks_get(&vendor->tasks, result->task);

    count_done(&vendor->totals, result->status);
    if (result->conn != 0)
        http_release(vendor->server, result->conn);
    if (task == NULL || task->detail == NULL)
        return;
    struct task_detail *detail = task->detail;
    if (detail->callback_count < CALLBACKS_SHOWN)
        detail->callbacks[detail->callback_count] = (struct callback_record){
            .at_ms = clock_now_ms(vendor->clock),
            .status = result->status,
            .sort = (uint8_t)result->sort,
        };
    detail->callback_count++;
}

static void add_code(struct vendor *vendor, const struct task *task, enum callback_sort sort,
                     struct buf *code)
{
    if (sort == CALLBACK_ERROR || fault_kind(&task->callback_fault) == FAULT_CODE)
        buf_add(code, slice_from(task->callback_fault.text));
    else if (sort == CALLBACK_FORGED)
        buf_add(code, SLICE_OF("SIM_FORGED"));
    else if (task->error != NULL)
        buf_add(code, slice_from(task->error));
    else
        answer_add_text(code, task, &vendor->style, sort == CALLBACK_OTHER_CODE);
}

/* Makes another path at the same address: changes its last character or appends a segment. */
static void add_forged_url(struct buf *url, struct slice original)
{
    const char *mark = memchr(original.data, '?', original.len);
    const size_t end = mark == NULL ? original.len : (size_t)(mark - original.data);
    const size_t authority = sizeof "http://" - 1;
    const bool has_path =
        end > authority && memchr(original.data + authority, '/', end - authority) != NULL;

    buf_add(url, (struct slice){original.data, end});
    if (!has_path)
        buf_add(url, SLICE_OF("/forged"));
    else if (original.data[end - 1] == '/')
        buf_add(url, SLICE_OF("forged"));
    else
        url->data[end - 1] = original.data[end - 1] == '0' ? '1' : '0';
    buf_add(url, (struct slice){original.data + end, original.len - end});
}

static void make(struct vendor *vendor, const struct task *task, enum callback_sort sort,
                 uint64_t delay_ms, slab_id conn)
{
    struct buf id;
    struct buf code;
    struct buf url;

    buf_init(&id, 64);
    buf_init(&code, CODE_BYTES_MAX);
    buf_init(&url, CODE_BYTES_MAX);
    answer_add_id(&id, task->number, vendor->options->ids);
    add_code(vendor, task, sort, &code);
    if (sort == CALLBACK_FORGED)
        add_forged_url(&url, blob_slice(task->pingback));
    const struct pingback_call call = {
        .url = sort == CALLBACK_FORGED ? buf_slice(&url) : blob_slice(task->pingback),
        .id = buf_slice(&id),
        .code = buf_slice(&code),
        .delay_ms = delay_ms,
        .task = task->self,
        .conn = conn,
        .sort = sort,
    };
    pingback_call(vendor->pingback, &call);
    buf_close(&id);
    buf_close(&code);
    buf_close(&url);
}

void callbacks_start(struct vendor *vendor, struct task *task, slab_id early)
{
    const struct fault *fault = &task->callback_fault;
    const enum fault_kind kind = fault_kind(fault);
    const bool is_only = fault->text != NULL && strcmp(fault->text, "only") == 0;

    task->is_called_back = true;
    if (kind == FAULT_DROP) {
        vendor->totals.callbacks_dropped++;
        return;
    }
    if (kind == FAULT_ERROR) {
        make(vendor, task, CALLBACK_ERROR, 0, early);
        return;
    }
    if (kind == FAULT_FORGED)
        make(vendor, task, CALLBACK_FORGED, 0, 0);
    if (!is_only)
        make(vendor, task, CALLBACK_TRUE,
             kind == FAULT_LATE     ? fault->number
             : kind == FAULT_FORGED ? FOLLOW_MS
                                    : 0,
             early);
    if (kind == FAULT_OTHER_CODE)
        make(vendor, task, CALLBACK_OTHER_CODE, is_only ? 0 : FOLLOW_MS, 0);
    if (kind == FAULT_TWICE)
        make(vendor, task, CALLBACK_REPEAT, FOLLOW_MS, 0);
}
