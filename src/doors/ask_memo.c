#include "doors/ask_memo.h"

#include "doors/visit.h"

#include <sodium.h>

_Static_assert(sizeof(((struct ask_memo *)0)->secret) == crypto_shorthash_siphashx24_KEYBYTES,
               "the secret is a SipHash key");
_Static_assert(sizeof(((struct ask_memo *)0)->mac) == crypto_shorthash_siphashx24_BYTES,
               "the MAC has 128 bits");

void ask_memo_init(struct ask_memo *memo)
{
    *memo = (struct ask_memo){.is_open = false};
    randombytes_buf(memo->secret, sizeof memo->secret);
    buf_init(&memo->bytes, ASK_MEMO_BYTES);
}

void ask_memo_close(struct ask_memo *memo)
{
    for (size_t i = 0; i < ASK_MEMO_PLACES; i++) {
        blob_unref(memo->seen[i].ask.params);
    }
    if (memo->bytes.data != NULL)
        sodium_memzero(memo->bytes.data, memo->bytes.room);
    buf_close(&memo->bytes);
    sodium_memzero(memo, sizeof *memo);
}

/* Writes absent and empty parts differently and lengths first, so that no two requests have the
 * same bytes. */
static void add_part(struct buf *bytes, struct slice part)
{
    const uint32_t mark = slice_is_given(part) ? (uint32_t)part.len : UINT32_MAX;
    buf_add(bytes, (struct slice){.data = (const char *)&mark, .len = sizeof mark});
    buf_add(bytes, part);
}

/* Gathers every part of the request that the doors read for an ask. A request with an idempotency
 * key is not kept: nobody else sends that key. */
static bool gather(struct ask_memo *memo, const struct http_request *request,
                   const struct visit *visit)
{
    struct buf *bytes = &memo->bytes;
    if (slice_is_given(request->idempotency_key) || request->body.len > ASK_MEMO_BYTES)
        return false;
    const uintptr_t dialect = (uintptr_t)visit->dialect;
    buf_reset(bytes);
    buf_add(bytes, (struct slice){.data = (const char *)&dialect, .len = sizeof dialect});
    buf_add_char(bytes, (char)visit->verb);
    add_part(bytes, request->authorization);
    add_part(bytes, request->content_type);
    add_part(bytes, request->prefer);
    add_part(bytes, request->query);
    add_part(bytes, request->body);
    return !bytes->is_full;
}

static struct ask_seen *place_of(struct ask_memo *memo)
{
    return &memo->seen[memo->mac[0] % ASK_MEMO_PLACES];
}

static bool is_seen(const struct ask_memo *memo, const struct ask_seen *seen)
{
    return seen->ask.params != NULL &&
           ((seen->mac[0] ^ memo->mac[0]) | (seen->mac[1] ^ memo->mac[1])) == 0;
}

bool ask_memo_find(struct ask_memo *memo, const struct http_request *request, struct visit *visit,
                   struct ask *ask)
{
    memo->is_open = gather(memo, request, visit);
    if (!memo->is_open)
        return false;
    (void)crypto_shorthash_siphashx24((unsigned char *)memo->mac,
                                      (const unsigned char *)memo->bytes.data, memo->bytes.len,
                                      (const unsigned char *)memo->secret);
    const struct ask_seen *seen = place_of(memo);
    if (!is_seen(memo, seen))
        return false;
    *ask = seen->ask;
    ask->caller = request->caller;
    blob_ref(ask->params);
    visit->client = ask->client;
    visit->is_json = seen->is_json;
    visit->has_cors = seen->has_cors;
    return true;
}

void ask_memo_keep(struct ask_memo *memo, const struct visit *visit, const struct ask *ask)
{
    if (!memo->is_open || ask->has_idempotency || ask->pingback != NULL)
        return;
    struct ask_seen *seen = place_of(memo);
    blob_unref(seen->ask.params);
    *seen = (struct ask_seen){
        .mac = {memo->mac[0], memo->mac[1]},
        .ask = *ask,
        .is_json = visit->is_json,
        .has_cors = visit->has_cors,
    };
    blob_ref(seen->ask.params);
}
