/* Dead letters as JSON: everything needed to understand one, without secrets. */
#include "proto/api_letters.h"

#include "proto/api.h"
#include "proto/json_out.h"
#include "proto/pack.h"
#include "proto/params.h"

#include <solvegate/words.h>

/* Longer values are images or blobs: their size says more than their bytes. */
#define VALUE_SHOWN_MAX 256

/* How much of host:port:user:password, the form without an @, comes before the password. */
static size_t length_until_user(struct slice proxy)
{
    bool is_in_brackets = false;
    unsigned colons = 0;
    for (size_t i = 0; i < proxy.len; i++) {
        const char c = proxy.data[i];
        if (c == '[' || c == ']')
            is_in_brackets = c == '[';
        const bool is_scheme = i + 1 < proxy.len && proxy.data[i + 1] == '/';
        if (c == ':' && !is_in_brackets && !is_scheme && ++colons == 2)
            return i + 1;
    }
    return proxy.len;
}

/* The part of a proxy before its @ holds a password. */
static void write_proxy(struct buf *out, struct slice proxy)
{
    size_t host = proxy.len;
    while (host > 0 && proxy.data[host - 1] != '@')
        host--;
    const size_t shown = host > 0 ? proxy.len - host : length_until_user(proxy);
    const char *hidden = host == 0 && shown < proxy.len ? "***" : "";
    struct buf words;
    buf_init(&words, VALUE_SHOWN_MAX + 8);
    buf_addf(&words, "%s%.*s%s", host > 0 ? "***@" : "", (int)shown, proxy.data + host, hidden);
    json_add_string(out, buf_slice(&words));
    buf_close(&words);
}

static void write_value(struct buf *out, const struct param *param)
{
    const bool is_secret = slice_equals(param->name, SLICE_OF("cookies"));
    if (slice_is_given(param->filename) || param->value.len > VALUE_SHOWN_MAX || is_secret)
        buf_addf(out, "\"<%zu bytes>\"", param->value.len);
    else if (slice_equals(param->name, SLICE_OF("proxy")))
        write_proxy(out, param->value);
    else
        json_add_string(out, param->value);
}

static void write_params(struct buf *out, const struct blob *packed)
{
    struct params params;
    params_init(&params, packed->len + 1024);
    json_member(out, "params");
    json_open(out, '{');
    if (params_unpack(&params, packed) == 0) {
        for (size_t i = 0; i < params.count; i++) {
            json_item(out);
            json_add_string(out, params.items[i].name);
            buf_add_char(out, ':');
            write_value(out, &params.items[i]);
        }
    }
    json_close(out, '}');
    params_close(&params);
}

static void write_note(struct buf *out, const struct attempt_note *note)
{
    json_open(out, '{');
    json_time(out, "at", note->wall_ms);
    json_seconds(out, "took", note->took_ms);
    json_string(out, "class", error_class_name(note->class));
    json_text(out, "error", blob_slice(note->code));
    if (note->task_id != NULL)
        json_text(out, "upstream_id", blob_slice(note->task_id));
    json_close(out, '}');
}

static void write_attempts(struct buf *out, const struct letter_view *view)
{
    json_member(out, "attempts");
    json_open(out, '[');
    for (size_t i = 0; i < view->note_count; i++)
        write_note(out, &view->notes[i]);
    json_close(out, ']');
}

/* Writes the members that only letters about solutions and notices have. */
static void write_rest(struct buf *out, const struct letter_view *view)
{
    if (view->request != 0)
        json_id(out, "request", view->request);
    if (slice_is_given(view->pingback))
        json_text(out, "pingback", view->pingback);
    if (slice_is_given(view->text))
        api_write_text(out, view->text);
    if (view->task_id.len > 0)
        json_text(out, "upstream_id", view->task_id);
}

void api_write_letter(struct buf *out, const struct letter_view *view,
                      const struct letter_place *place, bool is_full)
{
    json_open(out, '{');
    json_id(out, "id", view->number);
    json_string(out, "kind", letter_kind_name(view->kind));
    if (place->node != NULL)
        json_string(out, "node", place->node);
    json_string(out, "client", place->client);
    json_string(out, "type", type_name(view->type));
    json_string(out, "class", error_class_name(view->class));
    json_text(out, "error", view->code);
    json_time(out, "created", view->created_wall_ms);
    json_time(out, "expires", view->expires_wall_ms);
    json_number(out, "callers_told", view->told);
    json_number(out, "replays", view->replays);
    json_number(out, "retries", view->retries);
    if (place->is_here)
        json_bool(out, "replaying", view->is_replaying);
    else
        json_null(out, "replaying");
    json_number(out, "attempt_count", view->note_count);
    if (is_full) {
        json_hex(out, "key", view->key.bytes, KEY_BYTES);
        write_params(out, view->params);
        write_attempts(out, view);
        write_rest(out, view);
    }
    json_close(out, '}');
}

void api_write_letters(struct buf *out, const struct letter_view *views,
                       const struct letter_place *places, size_t count, uint64_t total,
                       uint64_t next)
{
    json_open(out, '{');
    json_member(out, "letters");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        api_write_letter(out, &views[i], &places[i], false);
    api_close_page(out, total, next);
}
