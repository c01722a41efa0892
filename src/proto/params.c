#include "proto/params.h"

#include "base/assert.h"
#include "proto/form.h"
#include "proto/json_body.h"
#include "proto/multipart.h"
#include "proto/names.h"
#include "proto/params_private.h"

#include <stdarg.h>
#include <stdio.h>

/* yyjson's own bound for reading in place is 12 bytes per byte and a little; see json_body.c. */
#define JSON_ROOM_FACTOR 13
#define JSON_ROOM_SPARE 256

/* Below this size the JSON reader's memory is reused, above it is freed: 13 times an image is too
 * much to keep. */
#define JSON_ROOM_KEPT ((size_t)64 * 1024)

void params_init(struct params *params, size_t cap)
{
    ASSERT(cap < SIZE_MAX / (4 * JSON_ROOM_FACTOR));
    params->count = 0;
    params->mistake[0] = '\0';
    params->is_too_long = false;
    /* The JSON reader needs four bytes of padding after the text, which do not count as decoded bytes. */
    buf_init(&params->arena, cap + JSON_ROOM_SPARE);
    buf_init(&params->json_room, cap * JSON_ROOM_FACTOR + JSON_ROOM_SPARE);
}

void params_close(struct params *params)
{
    buf_close(&params->arena);
    buf_close(&params->json_room);
    params->count = 0;
}

void params_reset(struct params *params)
{
    params->count = 0;
    params->mistake[0] = '\0';
    params->is_too_long = false;
    buf_reset(&params->arena);
    buf_reset(&params->json_room);
    if (params->json_room.room > JSON_ROOM_KEPT)
        buf_close(&params->json_room);
}

int params_fail(struct params *params, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(params->mistake, sizeof params->mistake, format, args);
    va_end(args);
    return code;
}

int params_fail_length(struct params *params)
{
    params->is_too_long = true;
    return params_fail(params, ERR_FULL, "the parameters are too long");
}

const char *params_quote(struct slice bytes, char out[PARAMS_QUOTE_MAX])
{
    size_t len = 0;
    for (; len < bytes.len && len < PARAMS_QUOTE_MAX - 1; len++) {
        const char c = bytes.data[len];
        out[len] = c >= ' ' && c <= '~' ? c : '?';
    }
    out[len] = '\0';
    return out;
}

static bool is_inside(struct slice s, const char *start, size_t len)
{
    /* Compared as numbers, because the slice may belong to any other object. */
    const uintptr_t at = (uintptr_t)s.data;
    return at >= (uintptr_t)start && at - (uintptr_t)start < len;
}

/* The slices of an item, by number, for loops. */
static struct slice *item_slice(struct param *item, size_t number)
{
    struct slice *const slices[] = {&item->name, &item->value, &item->filename};
    return slices[number];
}

/* Grows the arena and moves the slices with it; values of an earlier encoding may point into it. */
static char *move_arena(struct params *params, size_t extra)
{
    enum { SLICES = 3, OUTSIDE = -1 };
    ptrdiff_t places[PARAMS_MAX][SLICES];
    const char *const old = params->arena.data;
    /* An empty slice may point right at the end of the used bytes. */
    const size_t used = params->arena.len + 1;
    for (size_t i = 0; i < params->count; i++)
        for (size_t j = 0; j < SLICES; j++) {
            const struct slice s = *item_slice(&params->items[i], j);
            places[i][j] = old != NULL && is_inside(s, old, used) ? s.data - old : OUTSIDE;
        }
    char *const room = buf_reserve(&params->arena, extra);
    if (room == NULL)
        return NULL;
    for (size_t i = 0; i < params->count; i++)
        for (size_t j = 0; j < SLICES; j++)
            if (places[i][j] != OUTSIDE)
                item_slice(&params->items[i], j)->data = params->arena.data + places[i][j];
    return room;
}

char *params_reserve(struct params *params, size_t extra)
{
    const struct buf *arena = &params->arena;
    if (arena->data != NULL && extra <= arena->room - arena->len)
        return arena->data + arena->len;
    return move_arena(params, extra);
}

/* Its index, or the count if there is none. */
static size_t find(const struct params *params, struct slice name)
{
    size_t i = 0;
    while (i < params->count && !slice_equals(params->items[i].name, name))
        i++;
    return i;
}

int params_put(struct params *params, struct param item)
{
    char quoted[PARAMS_QUOTE_MAX];
    ASSERT(item.value.data != NULL);
    if (item.name.len == 0)
        return params_fail(params, ERR_INVALID, "a parameter has an empty name");
    if (item.name.len > PARAM_NAME_MAX)
        return params_fail(params, ERR_INVALID,
                           "the parameter name '%s...' is longer than %d bytes",
                           params_quote(item.name, quoted), PARAM_NAME_MAX);
    const size_t place = find(params, item.name);
    if (place == PARAMS_MAX)
        return params_fail(params, ERR_FULL, "more than %d parameters", PARAMS_MAX);
    params->items[place] = item;
    params->count += place == params->count;
    return 0;
}

/* The first byte that is not white space, or 0. */
static char first_byte(struct slice body)
{
    for (size_t i = 0; i < body.len; i++)
        if (body.data[i] != ' ' && (body.data[i] < '\t' || body.data[i] > '\r'))
            return body.data[i];
    return '\0';
}

int params_add_body(struct params *params, struct slice content_type, struct slice body)
{
    struct slice boundary;
    if (body.len == 0)
        return 0;
    if (multipart_boundary(content_type, &boundary))
        return params_add_multipart(params, body, boundary);
    /* Content types are not trusted: JSON comes as text/plain and as multipart without boundary. */
    if (first_byte(body) == '{')
        return params_add_json(params, body);
    return params_add_form(params, body);
}

const struct param *params_find(const struct params *params, struct slice name)
{
    const size_t place = find(params, name);
    return place == params->count ? NULL : &params->items[place];
}

struct slice params_value(const struct params *params, struct slice name)
{
    const struct param *const param = params_find(params, name);
    return param == NULL ? SLICE_NONE : param->value;
}

bool params_flag(const struct params *params, struct slice name)
{
    const struct slice value = params_value(params, name);
    return slice_equals(value, SLICE_OF("1")) || slice_equals_nocase(value, SLICE_OF("true")) ||
           slice_equals_nocase(value, SLICE_OF("yes")) ||
           slice_equals_nocase(value, SLICE_OF("on"));
}

struct slice params_trim(struct slice value)
{
    while (value.len > 0 && (unsigned char)value.data[0] <= ' ')
        value = slice_skip(value, 1);
    while (value.len > 0 && (unsigned char)value.data[value.len - 1] <= ' ')
        value.len--;
    return value;
}

bool param_is_transport(struct slice name)
{
    return name_role(name) == NAME_TRANSPORT;
}
