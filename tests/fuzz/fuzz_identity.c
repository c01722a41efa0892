/* Identity: the key of a request does not care about order, encoding or transport fields, survives packing and the
 * way to the vendor, and changes with every parameter that counts.
 *
 * Input: one byte of options, the rest of a line with the content type, then the body. */
#include "same.h"

#include "proto/api.h"
#include "proto/key.h"
#include "proto/names.h"
#include "proto/pack.h"
#include "proto/vendor_write.h"
#include "upstream/url.h"

#include <sodium.h>
#include <stdlib.h>

static struct identity_options options;
static struct buf scratch;

static int compute(const struct params *params, struct identity *identity)
{
    const struct identity_scope scope = identity_scope_of(&options, SLICE_OF("crawler"));
    const int code = identity_compute(&options, params, &scope, &scratch, identity);
    HOLDS(code == 0 || code == ERR_INVALID);
    HOLDS((code == 0) == (identity->mistake == NULL));
    if (code != 0)
        HOLDS(slice_is_printable(slice_from(identity->mistake_detail)));
    return code;
}

static bool has_key(const struct params *params, const struct key *key)
{
    struct identity identity;
    return compute(params, &identity) == 0 && key_equals(&identity.key, key);
}

static void check_order(struct params *params, const struct key *key)
{
    /* Backwards, then with the first and the last exchanged: fields are sorted whatever comes. */
    for (size_t i = 0; i < params->count / 2; i++) {
        const struct param param = params->items[i];
        params->items[i] = params->items[params->count - 1 - i];
        params->items[params->count - 1 - i] = param;
    }
    HOLDS(has_key(params, key));
    if (params->count > 2) {
        const struct param param = params->items[0];
        params->items[0] = params->items[params->count / 2];
        params->items[params->count / 2] = param;
    }
    HOLDS(has_key(params, key));
}

static void check_scope(const struct params *params, const struct key *key)
{
    struct identity other;
    const struct identity_scope scope = identity_scope_of(&options, SLICE_OF("shop"));
    HOLDS(identity_compute(&options, params, &scope, &scratch, &other) == 0);
    HOLDS(key_equals(&other.key, key) == options.is_global);
}

/* Ours about the call, unless the caller gave one of them as a file, which only a test would do. */
static void check_transport(struct params *params, const struct key *key)
{
    if (params->count == PARAMS_MAX || params_find(params, SLICE_OF("soft_id")) != NULL)
        return;
    params->items[params->count++] =
        (struct param){.name = SLICE_OF("soft_id"), .value = SLICE_OF("123")};
    HOLDS(has_key(params, key));
    params->count--;
}

/* What clients note beside an image is not what is asked for. */
static void check_bookkeeping(struct params *params, const struct identity *identity)
{
    const struct key key = identity->key;
    if (identity->type != TYPE_IMAGE || params->count == PARAMS_MAX ||
        params_find(params, SLICE_OF("filename")) != NULL)
        return;
    params->items[params->count++] =
        (struct param){.name = SLICE_OF("filename"), .value = SLICE_OF("a.png")};
    HOLDS(has_key(params, &key));
    params->count--;
}

/* A parameter nobody knows is part of what is asked for: with another value it is another request. */
static void check_difference(struct params *params, const struct key *key)
{
    for (size_t i = 0; i < params->count; i++) {
        struct param *param = &params->items[i];
        if (name_role(param->name) != NAME_OTHER)
            continue;
        const struct slice before = param->value;
        char *longer = malloc(before.len + 1);
        HOLDS(longer != NULL);
        memcpy(longer, before.data, before.len);
        longer[before.len] = 'x';
        param->value = (struct slice){.data = longer, .len = before.len + 1};
        HOLDS(!has_key(params, key));
        param->value = before;
        free(longer);
        return;
    }
}

static bool has_plain_names(const struct params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct slice name = params->items[i].name;
        if (!slice_is_printable(name) || memchr(name.data, '"', name.len) != NULL ||
            memchr(name.data, '\\', name.len) != NULL || memchr(name.data, '%', name.len) != NULL)
            return false;
    }
    return true;
}

/* Asked again with exactly what we send the vendor, it is the same request. */
static void check_submit(const struct params *params, const struct key *key)
{
    struct blob *packed = params_pack(params);
    struct buf body, type;
    struct params sent;
    buf_init(&body, (size_t)1 << 22);
    buf_init(&type, 256);
    params_init(&sent, (size_t)1 << 22);
    HOLDS(params_unpack(&sent, packed) == 0 && has_key(&sent, key));
    params_reset(&sent);
    HOLDS(vendor_write_submit(packed, SLICE_OF("OURKEY"), SLICE_NONE, &body, &type) == 0);
    if (params->count <= PARAMS_MAX - 4 && has_plain_names(params)) {
        HOLDS(params_add_body(&sent, buf_slice(&type), buf_slice(&body)) == 0);
        HOLDS(has_key(&sent, key));
    }
    params_close(&sent);
    buf_close(&type);
    buf_close(&body);
    blob_unref(packed);
}

static void check_fields(const struct params *params, const struct identity *identity)
{
    HOLDS(identity->field_count + identity->ignored_count <= params->count);
    HOLDS(identity->type < TYPE_COUNT && identity->method.len > 0);
    for (size_t i = 1; i < identity->field_count; i++) {
        const struct slice a = identity->fields[i - 1].name;
        const struct slice b = identity->fields[i].name;
        const int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
        HOLDS(order < 0 || (order == 0 && a.len <= b.len));
    }
}

static void check_explanation(const struct identity *identity)
{
    const struct ask ask = {.reuse = REUSE_SINGLE, .min_ttl_ms = 10000, .max_age_ms = 5};
    const struct outlook outlook = {.would_hit = identity->is_one_time, .age_ms = 1500};
    struct buf out;
    buf_init(&out, (size_t)1 << 22);
    api_write_explanation(&out, identity, &ask, &outlook);
    HOLDS(!out.is_full && json_has_string(buf_slice(&out), "method", identity->method));
    buf_close(&out);
}

static void check_identity(struct params *params)
{
    struct identity identity;
    if (compute(params, &identity) != 0)
        return;
    check_fields(params, &identity);
    check_explanation(&identity);
    const struct key key = identity.key;
    check_order(params, &key);
    check_scope(params, &key);
    check_transport(params, &key);
    check_bookkeeping(params, &identity);
    check_difference(params, &key);
    check_submit(params, &key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    const uint8_t choice = input_byte(&input);
    const struct slice content_type = input_line(&input);
    HOLDS(sodium_init() >= 0);
    options = (struct identity_options){.include_proxy = (choice & 1) != 0,
                                        .is_global = (choice & 2) != 0,
                                        .normalize_url = (choice & 4) != 0 ? NULL : url_normalize};
    memset(options.secret, choice, sizeof(options.secret));
    buf_init(&scratch, IDENTITY_SCRATCH_BYTES);
    const struct slice rest = input_rest(&input);
    char *bytes = exact_copy(rest);
    struct params params;
    params_init(&params, PARAMS_CAP);
    if (params_add_body(&params, content_type, (struct slice){.data = bytes, .len = rest.len}) == 0)
        check_identity(&params);
    params_close(&params);
    free(bytes);
    buf_close(&scratch);
    return 0;
}
