/* Strangers' text in our output: JSON strings round-trip through yyjson, log lines stay one line of JSON, idempotency
 * keys are taken apart the same way twice.
 *
 * Input: the text. */
#include "fuzz.h"

#include "config/nearest.h"
#include "proto/idempotency.h"
#include "proto/json_out.h"
#include "proto/key.h"
#include "proto/names.h"
#include "sys/log_escape.h"

#include <sodium.h>
#include <stdlib.h>
#include <yyjson.h>

#define TEXT_CAP ((size_t)1 << 20)

static void check_string(struct slice text)
{
    struct buf out, meant;
    buf_init(&out, TEXT_CAP);
    buf_init(&meant, TEXT_CAP);
    json_open(&out, '{');
    json_text(&out, "text", text);
    json_close(&out, '}');
    utf8_repair(text, &meant);
    HOLDS(json_has_string(buf_slice(&out), "text", buf_slice(&meant)));
    /* Nothing that a terminal or a line-based reader would act upon. */
    for (size_t i = 0; i < out.len; i++)
        HOLDS((unsigned char)out.data[i] >= ' ' && out.data[i] != 0x7f);
    buf_close(&meant);
    buf_close(&out);
}

static void check_log(struct slice text)
{
    struct buf out;
    buf_init(&out, TEXT_CAP);
    buf_add_char(&out, '"');
    for (size_t at = 0; at < text.len;) {
        char piece[LOG_ESCAPE_MAX];
        const size_t before = at;
        const size_t len = log_escape_next(text, &at, piece);
        HOLDS(len > 0 && len <= sizeof(piece) && at > before && at <= text.len);
        buf_add(&out, (struct slice){.data = piece, .len = len});
    }
    buf_add_char(&out, '"');
    HOLDS(json_is_valid(buf_slice(&out)) && memchr(out.data, '\n', out.len) == NULL);
    /* Without quotes it must already stand for itself. */
    if (log_is_bare(text))
        HOLDS(out.len == text.len + 2 && memcmp(out.data + 1, text.data, text.len) == 0);
    buf_close(&out);
}

static void check_idempotency(struct slice text)
{
    static const struct identity_options options = {.secret = "s"};
    struct slice key = SLICE_OF("before");
    if (!idempotency_key_parse(text, &key)) {
        HOLDS(slice_equals(key, SLICE_OF("before")));
        return;
    }
    HOLDS(key.len > 0 && key.len <= 255 && slice_is_within(key, text));
    const struct identity_scope crawler = identity_scope_of(&options, SLICE_OF("crawler"));
    const struct identity_scope shop = identity_scope_of(&options, SLICE_OF("shop"));
    const struct key one = idempotency_digest(&crawler, key);
    const struct key two = idempotency_digest(&shop, key);
    HOLDS(!key_equals(&one, &two));
}

static void check_nearest(struct slice text)
{
    static const struct slice words[] = {{"listen", 6}, {"upstream", 8}, {"public_url", 10}};
    struct nearest nearest;
    nearest_init(&nearest, text);
    for (size_t i = 0; i < 3; i++)
        nearest_offer(&nearest, words[i]);
    for (size_t i = 0; i < 3; i++)
        HOLDS(!slice_equals(text, words[i]) || slice_equals(nearest.best, words[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HOLDS(sodium_init() >= 0);
    char *bytes = exact_copy((struct slice){.data = (const char *)data, .len = size});
    const struct slice text = {.data = bytes, .len = size};
    check_string(text);
    check_log(text);
    check_idempotency(text);
    check_nearest(text);
    /* A name with a part to play is never a disguise of one. */
    if (name_role(text) != NAME_OTHER)
        HOLDS(!name_is_disguised(text));
    free(bytes);
    return 0;
}
