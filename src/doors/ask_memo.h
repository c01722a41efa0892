/* What requests seen lately ask for: the same bytes always mean the same, so they are read only once. */
#ifndef SOLVEGATE_DOORS_ASK_MEMO_H
#define SOLVEGATE_DOORS_ASK_MEMO_H

#include "base/buf.h"
#include "http/http.h"

#include <solvegate/event.h>

#define ASK_MAC_WORDS 2
/* A power of two; requests that share a place only take turns in it. */
#define ASK_MEMO_PLACES 256
/* Images are longer, and each is another one. */
#define ASK_MEMO_BYTES 2048

/* Workers that want the same thing send the same bytes, and decoding, checking and digesting those costs
 * more than all the rest of a hit. What a request asks for depends on nothing but its bytes and the
 * configuration; a reload empties the memo. Bytes are known again by their MAC under a secret of
 * this process (SipHash-2-4, 128 bits), so that passing for somebody else's request is as hopeless as
 * guessing the MAC. Only what was found in order gets in; its key does not stay. */
struct ask_memo {
    uint64_t secret[2];
    struct buf bytes;            /* of the request being looked up */
    uint64_t mac[ASK_MAC_WORDS]; /* of those */
    bool is_open;                /* may it be kept? */
    struct ask_seen {
        uint64_t mac[ASK_MAC_WORDS];
        struct ask ask; /* without caller; its params are owned, NULL in a free place */
        bool is_json, has_cors;
    } seen[ASK_MEMO_PLACES];
};

struct visit;

void ask_memo_init(struct ask_memo *memo);
void ask_memo_close(struct ask_memo *memo);

/* Fills the ask, whose params the caller then owns, and what the visit learns from parameters.
 * False: read the request, and give what it asks for to ask_memo_keep. */
bool ask_memo_find(struct ask_memo *memo, const struct http_request *request, struct visit *visit,
                   struct ask *ask);
void ask_memo_keep(struct ask_memo *memo, const struct visit *visit, const struct ask *ask);

#endif
