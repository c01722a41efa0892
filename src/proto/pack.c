/* Parameters as one blob: what a submit sends, what the journal and a letter keep.
 *
 * version (1), count (1), then for each: flags (1), length of the name (1), of the value (4), of
 * the filename (2, only with PACK_HAS_FILENAME), and the bytes of the three in that order.
 * Numbers are little-endian. */
#include "proto/pack.h"

#include "base/assert.h"
#include "proto/params_private.h"

#define PACK_VERSION 1
#define PACK_HAS_FILENAME 1U
#define PACK_HEADER_BYTES 2
#define PACK_ITEM_BYTES 6
#define PACK_FILENAME_BYTES 2

_Static_assert(PARAMS_MAX <= UINT8_MAX && PARAM_NAME_MAX <= UINT8_MAX, "lengths fit their bytes");

static size_t filename_len(const struct param *item)
{
    /* Part headers are limited to 4 KiB, so this never cuts a name in practice. */
    return item->filename.len > UINT16_MAX ? UINT16_MAX : item->filename.len;
}

static size_t item_bytes(const struct param *item)
{
    const size_t more =
        slice_is_given(item->filename) ? PACK_FILENAME_BYTES + filename_len(item) : 0;
    return PACK_ITEM_BYTES + more + item->name.len + item->value.len;
}

static char *put_number(char *at, size_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *at++ = (char)(unsigned char)(number >> (8 * i));
    return at;
}

static char *put_bytes(char *at, const char *data, size_t len)
{
    if (len > 0)
        memcpy(at, data, len);
    return at + len;
}

static char *put_item(char *at, const struct param *item)
{
    const bool has_filename = slice_is_given(item->filename);
    ASSERT(item->value.len <= UINT32_MAX);
    at = put_number(at, has_filename ? PACK_HAS_FILENAME : 0, 1);
    at = put_number(at, item->name.len, 1);
    at = put_number(at, item->value.len, 4);
    if (has_filename)
        at = put_number(at, filename_len(item), PACK_FILENAME_BYTES);
    at = put_bytes(at, item->name.data, item->name.len);
    at = put_bytes(at, item->value.data, item->value.len);
    return has_filename ? put_bytes(at, item->filename.data, filename_len(item)) : at;
}

struct blob *params_pack(const struct params *params)
{
    const struct param *kept[PARAMS_MAX];
    size_t count = 0;
    size_t bytes = PACK_HEADER_BYTES;
    for (size_t i = 0; i < params->count; i++) {
        if (param_is_transport(params->items[i].name))
            continue;
        kept[count++] = &params->items[i];
        bytes += item_bytes(&params->items[i]);
    }
    struct blob *const packed = blob_alloc(bytes);
    char *at = put_number(packed->data, PACK_VERSION, 1);
    at = put_number(at, count, 1);
    for (size_t i = 0; i < count; i++)
        at = put_item(at, kept[i]);
    ASSERT(at == packed->data + bytes);
    return packed;
}

/* Takes len bytes from the front; false if there are fewer. */
static bool take(struct slice *rest, size_t len, struct slice *taken)
{
    if (rest->len < len)
        return false;
    *taken = (struct slice){.data = rest->data, .len = len};
    rest->data += len;
    rest->len -= len;
    return true;
}

static bool take_number(struct slice *rest, size_t bytes, size_t *number)
{
    struct slice taken;
    if (!take(rest, bytes, &taken))
        return false;
    *number = 0;
    for (size_t i = 0; i < bytes; i++)
        *number |= (size_t)(unsigned char)taken.data[i] << (8 * i);
    return true;
}

static bool take_item(struct slice *rest, struct param *item)
{
    size_t flags;
    size_t name;
    size_t value;
    size_t filename = 0;
    if (!take_number(rest, 1, &flags) || (flags & ~(size_t)PACK_HAS_FILENAME) != 0 ||
        !take_number(rest, 1, &name) || !take_number(rest, 4, &value))
        return false;
    if (flags != 0 && !take_number(rest, PACK_FILENAME_BYTES, &filename))
        return false;
    item->filename = SLICE_NONE;
    return take(rest, name, &item->name) && take(rest, value, &item->value) &&
           (flags == 0 || take(rest, filename, &item->filename));
}

int params_unpack(struct params *params, const struct blob *packed)
{
    struct slice rest = blob_slice(packed);
    size_t version;
    size_t count;
    params_reset(params);
    if (!take_number(&rest, 1, &version) || version != PACK_VERSION)
        return params_fail(params, ERR_INVALID, "packed parameters of an unknown version");
    if (!take_number(&rest, 1, &count) || count > PARAMS_MAX)
        return params_fail(params, ERR_INVALID, "packed parameters with a bad count");
    for (size_t i = 0; i < count; i++) {
        struct param item;
        if (!take_item(&rest, &item))
            return params_fail(params, ERR_INVALID, "packed parameter %zu is cut or damaged", i);
        const int code = params_put(params, item);
        if (code != 0)
            return code;
    }
    if (rest.len != 0 || params->count != count)
        return params_fail(params, ERR_INVALID, "packed parameters hold more than they say");
    return 0;
}
