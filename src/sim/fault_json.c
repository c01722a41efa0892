#include "sim/fault_json.h"

#include "base/assert.h"
#include "sim/text.h"

#include <yyjson.h>

static int complain(struct buf *problem, const char *what, struct slice name)
{
    buf_addf(problem, "%s: %.*s", what, (int)(name.len > 80 ? 80 : name.len),
             name.data == NULL ? "" : name.data);
    return ERR_INVALID;
}

static struct slice text_of(yyjson_val *value)
{
    if (yyjson_is_str(value))
        return (struct slice){yyjson_get_str(value), yyjson_get_len(value)};
    if (yyjson_is_raw(value))
        return (struct slice){yyjson_get_raw(value), yyjson_get_len(value)};
    return SLICE_NONE;
}

/* Reads the fault and value of a rule or script entry. */
static int read_fault(struct fault_rule *rule, struct slice name, yyjson_val *value,
                      struct buf *problem)
{
    const struct fault_row *row = fault_find(name);

    if (row == NULL) {
        const char *nearest = fault_suggest(name.data == NULL ? SLICE_OF("") : name);
        (void)complain(problem, "unknown fault", name);
        if (nearest != NULL)
            buf_addf(problem, ", did you mean %s?", nearest);
        return ERR_INVALID;
    }
    if (!fault_set(&rule->fault, row, text_of(value)))
        return complain(problem, "not a value this fault takes", text_of(value));
    return 0;
}

static int read_probability(struct fault_rule *rule, yyjson_val *value, struct buf *problem)
{
    if (!text_to_double(text_of(value), &rule->probability) || rule->probability > 1)
        return complain(problem, "not a probability between 0 and 1", text_of(value));
    return 0;
}

static int add_rule(struct faults *faults, struct slice name, yyjson_val *p, yyjson_val *value,
                    struct buf *problem)
{
    struct fault_rule rule = {.left = 0};
    int rc = read_fault(&rule, name, value, problem);

    if (rc == 0)
        rc = read_probability(&rule, p, problem);
    if (rc == 0 && faults_add_rule(faults, &rule) != 0)
        rc = complain(problem, "too many, or their probabilities add up to more than 1", name);
    return rc;
}

/* {"submit-lost": 0.1, "submit-error": {"p": 0.1, "value": "ERROR_X"}} */
static int read_rule_object(struct faults *faults, yyjson_val *object, struct buf *problem)
{
    yyjson_obj_iter members;

    yyjson_obj_iter_init(object, &members);
    for (yyjson_val *name = yyjson_obj_iter_next(&members); name != NULL;
         name = yyjson_obj_iter_next(&members)) {
        yyjson_val *content = yyjson_obj_iter_get_val(name);
        const bool is_long = yyjson_is_obj(content);
        const int rc =
            add_rule(faults, text_of(name), is_long ? yyjson_obj_get(content, "p") : content,
                     is_long ? yyjson_obj_get(content, "value") : NULL, problem);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* [{"fault": "submit-error", "p": 0.1, "value": "ERROR_X"}]: allows one fault with several values. */
static int read_rule_array(struct faults *faults, yyjson_val *array, struct buf *problem)
{
    yyjson_arr_iter items;

    yyjson_arr_iter_init(array, &items);
    for (yyjson_val *item = yyjson_arr_iter_next(&items); item != NULL;
         item = yyjson_arr_iter_next(&items)) {
        const int rc = add_rule(faults, text_of(yyjson_obj_get(item, "fault")),
                                yyjson_obj_get(item, "p"), yyjson_obj_get(item, "value"), problem);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int read_count(yyjson_val *item, const char *name, uint32_t fallback, uint32_t *count,
                      struct buf *problem)
{
    yyjson_val *value = yyjson_obj_get(item, name);
    unsigned long long number = fallback;

    if (value != NULL && (!slice_to_u64(text_of(value), &number) || number > UINT32_MAX))
        return complain(problem, "count and skip are whole numbers", text_of(value));
    *count = (uint32_t)number;
    return 0;
}

static int read_match(struct fault_rule *entry, yyjson_val *match, struct buf *problem)
{
    yyjson_obj_iter members;

    if (match == NULL)
        return 0;
    yyjson_obj_iter_init(match, &members);
    yyjson_val *name = yyjson_obj_iter_next(&members);
    const struct slice value = text_of(yyjson_obj_iter_get_val(name));
    if (yyjson_obj_size(match) != 1 || !slice_is_given(value))
        return complain(problem, "match is an object with one parameter", SLICE_NONE);
    entry->match_name = text_intern(text_of(name));
    entry->match_value = text_intern(value);
    return 0;
}

/* "submit-lost", or {"fault": "submit-lost", "count": 1, "skip": 0, "match": {"sitekey": "x"}} */
static int read_script_entry(struct faults *faults, yyjson_val *item, struct buf *problem)
{
    struct fault_rule entry = {.left = 1};
    yyjson_val *name = yyjson_is_str(item) ? item : yyjson_obj_get(item, "fault");
    int rc = read_fault(&entry, text_of(name), yyjson_obj_get(item, "value"), problem);

    if (rc == 0)
        rc = read_count(item, "count", 1, &entry.left, problem);
    if (rc == 0)
        rc = read_count(item, "skip", 0, &entry.skip, problem);
    if (rc == 0)
        rc = read_match(&entry, yyjson_obj_get(item, "match"), problem);
    if (rc == 0 && entry.left == 0)
        rc = complain(problem, "count is at least 1", SLICE_NONE);
    if (rc == 0 && faults_add_script(faults, &entry) != 0)
        rc = complain(problem, "the script is too long", SLICE_NONE);
    return rc;
}

static int read_script(struct faults *faults, yyjson_val *script, struct buf *problem)
{
    yyjson_arr_iter items;

    if (!yyjson_is_arr(script))
        return complain(problem, "a script is an array", SLICE_NONE);
    yyjson_arr_iter_init(script, &items);
    for (yyjson_val *item = yyjson_arr_iter_next(&items); item != NULL;
         item = yyjson_arr_iter_next(&items)) {
        const int rc = read_script_entry(faults, item, problem);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int read_members(struct faults *fresh, yyjson_val *root, struct buf *problem)
{
    yyjson_obj_iter members;
    int rc = 0;

    yyjson_obj_iter_init(root, &members);
    for (yyjson_val *name = yyjson_obj_iter_next(&members); name != NULL && rc == 0;
         name = yyjson_obj_iter_next(&members)) {
        yyjson_val *content = yyjson_obj_iter_get_val(name);
        if (yyjson_equals_str(name, "script"))
            rc = read_script(fresh, content, problem);
        else if (yyjson_equals_str(name, "faults") && yyjson_is_obj(content))
            rc = read_rule_object(fresh, content, problem);
        else if (yyjson_equals_str(name, "faults") && yyjson_is_arr(content))
            rc = read_rule_array(fresh, content, problem);
        else
            rc = complain(problem, "expected the members faults and script, not", text_of(name));
    }
    return rc;
}

int fault_json_read(struct faults *faults, struct slice json, struct buf *problem)
{
    struct faults fresh;
    yyjson_doc *document = yyjson_read(json.data, json.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(document);
    int rc;

    faults_init(&fresh, 0);
    if (yyjson_is_arr(root))
        rc = read_script(&fresh, root, problem);
    else if (yyjson_is_obj(root))
        rc = read_members(&fresh, root, problem);
    else
        rc = complain(problem, "expected a JSON object or array", SLICE_NONE);
    if (rc == 0 && yyjson_obj_get(root, "faults") != NULL)
        faults_copy_rules(faults, &fresh);
    if (rc == 0 && (yyjson_is_arr(root) || yyjson_obj_get(root, "script") != NULL))
        faults_copy_script(faults, &fresh);
    yyjson_doc_free(document);
    faults_close(&fresh);
    return rc;
}

static void add_fault(struct buf *out, const struct fault *fault)
{
    buf_addf(out, "{\"fault\":\"%s\"", fault->row->name);
    if (fault->row->value == VALUE_TEXT || fault->row->value == VALUE_BYTES) {
        buf_add(out, SLICE_OF(",\"value\":"));
        text_add_json(out, slice_from(fault->text));
    } else if (fault->row->value == VALUE_MS) {
        buf_addf(out, ",\"value\":\"%llums\"", (unsigned long long)fault->number);
    } else if (fault->row->value == VALUE_NUMBER && fault->number != FAULT_HALF) {
        buf_addf(out, ",\"value\":%llu", (unsigned long long)fault->number);
    }
}

static void add_script(struct buf *out, const struct faults *faults)
{
    for (size_t i = 0; i < faults->script_count; i++) {
        const struct fault_rule *entry = &faults->script[i];
        if (i > 0)
            buf_add_char(out, ',');
        add_fault(out, &entry->fault);
        buf_addf(out, ",\"count\":%lu,\"skip\":%lu", (unsigned long)entry->left,
                 (unsigned long)entry->skip);
        if (entry->match_name != NULL) {
            buf_add(out, SLICE_OF(",\"match\":{"));
            text_add_json(out, slice_from(entry->match_name));
            buf_add_char(out, ':');
            text_add_json(out, slice_from(entry->match_value));
            buf_add_char(out, '}');
        }
        buf_add_char(out, '}');
    }
}

void fault_json_add(struct buf *out, const struct faults *faults)
{
    bool is_first = true;

    buf_add(out, SLICE_OF("{\"faults\":["));
    for (size_t i = 0; i < faults->rule_count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_fault(out, &faults->rules[i].fault);
        buf_addf(out, ",\"p\":%.6g}", faults->rules[i].probability);
    }
    buf_add(out, SLICE_OF("],\"script\":["));
    add_script(out, faults);
    buf_add(out, SLICE_OF("],\"struck\":{"));
    for (size_t i = 0; i < fault_row_count; i++) {
        if (faults->struck[i] == 0)
            continue;
        buf_addf(out, "%s\"%s\":%llu", is_first ? "" : ",", fault_rows[i].name,
                 (unsigned long long)faults->struck[i]);
        is_first = false;
    }
    buf_add(out, SLICE_OF("}}\n"));
}
