#include "config/config_pools.h"

#include "config/config_fields.h"
#include "config/config_read.h"
#include "proto/pack.h"
#include "proto/params_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

/* Parameters of a target are short; a pool cannot hold images. */
#define TARGET_MAX_BYTES 65536

static const struct option any_text = {.kind = OPTION_TEXT};

/* Returns the value as a caller would write it in a form, to be freed; NULL after telling a
 * mistake. */
static char *read_text(struct loader *loader, yyjson_val *value)
{
    char *text = NULL;
    char number[32];
    if (yyjson_is_bool(value))
        (void)snprintf(number, sizeof number, "%d", yyjson_get_bool(value));
    else if (yyjson_is_uint(value))
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)yyjson_get_uint(value));
    else if (yyjson_is_real(value))
        (void)snprintf(number, sizeof number, "%g", yyjson_get_real(value));
    else
        return read_one(loader, &text, value) ? text : NULL;
    option_store_text(&text, number);
    return text;
}

static void add_param(struct loader *loader, struct params *params, struct slice name,
                      const char *text)
{
    const size_t len = strlen(text);
    char *const copy = params_reserve(params, len + 1);
    if (copy == NULL) {
        (void)loader_mistake(loader, "too many or too long parameters");
        return;
    }
    memcpy(copy, text, len + 1);
    buf_commit(&params->arena, len + 1);
    const struct param item = {.name = name, .value = {.data = copy, .len = len}};
    if (params_put(params, item) != 0)
        (void)loader_mistake(loader, "%s", params->mistake);
}

static void read_member(struct loader *loader, struct config_pool *pool, struct params *params,
                        struct slice name, yyjson_val *value)
{
    const bool is_method = slice_equals(name, SLICE_OF("method"));
    const struct option *const option = option_find(SLICE_OF(POOL_OPTION_PREFIX), name);
    loader->option = &any_text;
    if (option != NULL && !is_method) {
        read_value(loader, option, pool, value);
    } else if (param_is_transport(name)) {
        (void)loader_mistake(loader, "expected a parameter of the target, found one of a call");
    } else {
        char *const text = read_text(loader, value);
        if (text != NULL)
            add_param(loader, params, name, text);
        if (text != NULL && is_method)
            option_store_text(&pool->method, text);
        free(text);
    }
}

void pool_read(struct loader *loader, struct config_pool *pool, yyjson_val *object)
{
    struct params params;
    params_init(&params, TARGET_MAX_BYTES);
    options_preset(HOME_POOL, pool);
    loader->option = &any_text;
    yyjson_obj_iter iter;
    if (!yyjson_obj_iter_init(object, &iter))
        (void)loader_expected(loader, "an object", object);
    yyjson_val *key;
    while (yyjson_is_obj(object) && (key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        yyjson_val *const value = yyjson_obj_iter_get_val(key);
        const size_t mark = loader_push(loader, name);
        if (!loader_is_repeated(loader, object, name, value))
            read_member(loader, pool, &params, name, value);
        loader_pop(loader, mark);
    }
    if (yyjson_is_obj(object) && pool->method == NULL)
        (void)loader_mistake(loader, "expected a method, found none");
    pool->params = params_pack(&params);
    params_close(&params);
}
