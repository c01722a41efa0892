#include "same.h"

#include "proto/form.h"
#include "proto/json_out.h"
#include "proto/pack.h"

void check_reading(const struct params *params, int code)
{
    HOLDS(code == 0 || code == ERR_INVALID || code == ERR_FULL);
    if (code != 0)
        HOLDS(slice_is_printable(slice_from(params->mistake)));
    HOLDS(params->count <= PARAMS_MAX);
    buf_check(&params->arena);
    for (size_t i = 0; i < params->count; i++) {
        const struct param *param = &params->items[i];
        HOLDS(param->name.len > 0 && param->name.len <= PARAM_NAME_MAX);
        HOLDS(slice_is_given(param->value));
        /* Each name once, and found where it is. */
        HOLDS(params_find(params, param->name) == param);
    }
}

bool params_are_same(const struct params *a, const struct params *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct param *x = &a->items[i];
        const struct param *y = &b->items[i];
        if (!slice_equals(x->name, y->name) || !slice_equals(x->value, y->value) ||
            slice_is_given(x->filename) != slice_is_given(y->filename))
            return false;
    }
    return true;
}

static void add_percent(struct buf *out, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        buf_addf(out, "%%%02x", (unsigned char)bytes.data[i]);
}

void write_as_form(struct buf *out, const struct params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        if (i > 0)
            buf_add_char(out, '&');
        add_percent(out, params->items[i].name);
        buf_add_char(out, '=');
        add_percent(out, params->items[i].value);
    }
}

void write_as_json(struct buf *out, const struct params *params)
{
    json_open(out, '{');
    for (size_t i = 0; i < params->count; i++) {
        json_item(out);
        json_add_string(out, params->items[i].name);
        buf_add_char(out, ':');
        json_add_string(out, params->items[i].value);
    }
    json_close(out, '}');
}

void check_form_means(struct slice form, const struct params *params)
{
    struct params again;
    params_init(&again, PARAMS_CAP);
    HOLDS(params_add_form(&again, form) == 0);
    HOLDS(again.count == params->count);
    for (size_t i = 0; i < params->count; i++) {
        HOLDS(slice_equals(again.items[i].name, params->items[i].name));
        HOLDS(slice_equals(again.items[i].value, params->items[i].value));
    }
    params_close(&again);
}

void check_packing(const struct params *params)
{
    struct params again;
    struct blob *packed = params_pack(params);
    params_init(&again, PARAMS_CAP);
    HOLDS(params_unpack(&again, packed) == 0);
    size_t place = 0;
    for (size_t i = 0; i < params->count; i++) {
        const struct param *param = &params->items[i];
        if (param_is_transport(param->name))
            continue;
        HOLDS(place < again.count);
        const struct param *back = &again.items[place++];
        HOLDS(slice_equals(param->name, back->name) && slice_equals(param->value, back->value));
        HOLDS(slice_equals(param->filename, back->filename));
        HOLDS(slice_is_given(param->filename) == slice_is_given(back->filename));
    }
    HOLDS(place == again.count);
    params_close(&again);
    blob_unref(packed);
}
