#include "sim/ledger.h"

#include "base/assert.h"
#include "sim/text.h"

/* Longer values are bodies and cookies; tests compare their hash. */
#define VALUE_BYTES_SHOWN 512

static void add_value(struct buf *out, const struct param *param)
{
    if (slice_equals(param->name, SLICE_OF("key"))) {
        buf_add(out, SLICE_OF("\"redacted\""));
    } else if (slice_is_given(param->filename) || param->value.len > VALUE_BYTES_SHOWN ||
               slice_equals(param->name, SLICE_OF("body"))) {
        buf_addf(out, "{\"bytes\":%zu,\"fnv1a\":\"%016llx\"}", param->value.len,
                 (unsigned long long)text_hash(param->value));
    } else {
        text_add_json(out, param->value);
    }
}

void ledger_add_params(struct buf *out, const struct params *params)
{
    bool is_first = true;

    buf_add_char(out, '{');
    for (size_t i = 0; i < params->count; i++) {
        const struct param *param = &params->list[i];
        /* Of several parameters with one name only the last counts, so only that is shown. */
        if (params_find(params, param->name) != param)
            continue;
        if (!is_first)
            buf_add_char(out, ',');
        is_first = false;
        text_add_json(out, param->name);
        buf_add_char(out, ':');
        add_value(out, param);
    }
    buf_add_char(out, '}');
}

static void add_seconds(struct buf *out, const struct vendor *vendor, uint64_t at_ms)
{
    const unsigned long long wall_ms = clock_wall_ms(vendor->clock, at_ms);

    buf_addf(out, "%llu.%03llu", wall_ms / 1000, wall_ms % 1000);
}

static void add_callbacks(struct buf *out, const struct vendor *vendor,
                          const struct task_detail *detail)
{
    static const char *const sorts[] = {"true", "repeat", "forged", "other-code", "error"};

    buf_add_char(out, '[');
    for (uint32_t i = 0; i < detail->callback_count && i < CALLBACKS_SHOWN; i++) {
        const struct callback_record *record = &detail->callbacks[i];
        buf_addf(out, "%s{\"sort\":\"%s\",\"status\":%d,\"at\":", i == 0 ? "" : ",",
                 sorts[record->sort], record->status);
        add_seconds(out, vendor, record->at_ms);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void add_name(struct buf *out, const char *key, const char *name)
{
    if (name != NULL)
        buf_addf(out, ",\"%s\":\"%s\"", key, name);
}

static void add_outcome(struct buf *out, const struct vendor *vendor, const struct task *task)
{
    static const char *const states[] = {"solving", "solved", "failed", "expired"};
    static const char *const reports[] = {"null", "\"good\"", "\"bad\""};

    buf_addf(out, ",\"state\":\"%s\",\"reads\":%lu,\"report\":%s", states[task->state],
             (unsigned long)task->reads, reports[task->report]);
    if (!task->is_never)
        buf_addf(out, ",\"solve_ms\":%llu", (unsigned long long)task->solve_ms);
    if (task->state == TASK_SOLVING)
        return;
    buf_add(out, SLICE_OF(",\"settled\":"));
    add_seconds(out, vendor, task->settles_ms);
    if (task->error != NULL) {
        buf_add(out, SLICE_OF(",\"error\":"));
        text_add_json(out, slice_from(task->error));
    } else {
        struct buf answer;
        buf_init(&answer, 1 << 20);
        answer_add_text(&answer, task, &vendor->style, false);
        buf_add(out, SLICE_OF(",\"answer\":"));
        text_add_json(out, buf_slice(&answer));
        buf_close(&answer);
    }
}

static void add_entry(struct buf *out, const struct vendor *vendor,
                      const struct task_detail *detail)
{
    const struct task *task = detail->task;

    buf_add(out, SLICE_OF("{\"id\":\""));
    answer_add_id(out, task->number, vendor->options->ids);
    buf_add(out, SLICE_OF("\",\"at\":"));
    add_seconds(out, vendor, task->accepted_ms);
    buf_add(out, SLICE_OF(",\"params\":"));
    buf_add(out, blob_slice(detail->params));
    buf_add(out, SLICE_OF(",\"pingback\":"));
    if (task->pingback == NULL)
        buf_add(out, SLICE_OF("null"));
    else
        text_add_json(out, blob_slice(task->pingback));
    add_outcome(out, vendor, task);
    add_name(out, "submit_fault", detail->submit_fault);
    add_name(out, "task_fault", detail->task_fault);
    add_name(out, "callback_fault", detail->callback_fault);
    buf_addf(out, ",\"callback_count\":%lu,\"callbacks\":", (unsigned long)detail->callback_count);
    add_callbacks(out, vendor, detail);
    buf_add_char(out, '}');
}

static void add_codes(struct buf *out, const struct vendor *vendor)
{
    bool is_first = true;

    buf_add(out, SLICE_OF("\"rejected_by_code\":{"));
    for (size_t i = 0; i < TOTALS_CODES_MAX; i++) {
        if (vendor->codes[i].code == NULL)
            continue;
        if (!is_first)
            buf_add_char(out, ',');
        is_first = false;
        text_add_json(out, slice_from(vendor->codes[i].code));
        buf_add_char(out, ':');
        buf_add_u64(out, vendor->codes[i].count);
    }
    buf_add_char(out, '}');
}

static void add_totals(struct buf *out, struct vendor *vendor)
{
    const struct totals *totals = &vendor->totals;

    buf_add(out, SLICE_OF("{\"totals\":{"));
#define ADD_TOTAL(name) buf_addf(out, "\"%s\":%llu,", #name, (unsigned long long)totals->name);
    TOTALS_LIST(ADD_TOTAL)
#undef ADD_TOTAL
    buf_addf(out, "\"in_flight\":%llu,", (unsigned long long)vendor->tasks.in_flight);
    buf_addf(out, "\"remembered\":%llu,", (unsigned long long)vendor->tasks.ledger_count);
    buf_addf(out, "\"forgotten\":%llu,", (unsigned long long)vendor->tasks.forgotten);
    buf_addf(out, "\"connections\":%lu,", (unsigned long)http_connection_count(vendor->server));
    add_codes(out, vendor);
    buf_addf(out, "},\"seed\":%llu,\"balance\":", (unsigned long long)vendor->style.seed);
    plan_add_amount(out, vendor->plan.balance_micros);
}

static unsigned long long query_number(const struct params *query, struct slice name,
                                       unsigned long long fallback)
{
    (void)slice_to_u64(params_get(query, name), &fallback);
    return fallback;
}

void ledger_add(struct buf *out, struct vendor *vendor, const struct params *query)
{
    const unsigned long long after = query_number(query, SLICE_OF("after"), 0);
    const unsigned long long only = query_number(query, SLICE_OF("id"), 0);
    unsigned long long left = query_number(query, SLICE_OF("limit"), UINT64_MAX);
    bool is_first = true;

    add_totals(out, vendor);
    if (params_is_set(query, SLICE_OF("summary"))) {
        buf_add(out, SLICE_OF("}\n"));
        return;
    }
    buf_add(out, SLICE_OF(",\"submits\":["));
    LIST_FOR_EACH(node, &vendor->tasks.ledger) {
        const struct task_detail *detail = CONTAINER_OF(node, struct task_detail, link);
        const uint64_t number = detail->task->number;
        if (left == 0 || number <= after || (only != 0 && number != only))
            continue;
        left--;
        buf_add(out, is_first ? SLICE_OF("\n") : SLICE_OF(",\n"));
        is_first = false;
        add_entry(out, vendor, detail);
    }
    buf_add(out, SLICE_OF("\n]}\n"));
}
