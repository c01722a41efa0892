/* A memo of recent requests: equal bytes ask for the same thing, so they are parsed only once. */
#ifndef SOLVEGATE_DOORS_ASK_MEMO_H
#define SOLVEGATE_DOORS_ASK_MEMO_H

#include "base/buf.h"
#include "http/http.h"

#include <solvegate/event.h>

#define ASK_MAC_WORDS 2
/* A power of two; requests with the same index replace each other. */
#define ASK_MEMO_PLACES 256
/* Longer requests are images, which hardly ever repeat. */
#define ASK_MEMO_BYTES 2048

/* Workers that want the same thing send the same bytes, and decoding, checking and digesting them
 * costs more than all the rest of a hit. The meaning of a request depends only on its bytes and the
 * configuration; a reload empties the memo. Requests are recognised by their MAC under a secret of
 * this process (SipHash-2-4, 128 bits), so an attacker who wants to pass for another request would
 * have to guess the MAC. Only valid requests are kept, and without their key. */
struct ask_memo {
    uint64_t secret[2];
    struct buf bytes;            /* of the request being looked up */
    uint64_t mac[ASK_MAC_WORDS]; /* of bytes */
    bool is_open;                /* this request may be kept */
    struct ask_seen {
        uint64_t mac[ASK_MAC_WORDS];
        struct ask ask; /* without caller; params and host are owned, params NULL if it is free */
        bool is_json, has_cors;
    } seen[ASK_MEMO_PLACES];
};

struct visit;

void ask_memo_init(struct ask_memo *memo);
void ask_memo_close(struct ask_memo *memo);

/* Fills the ask, whose params the caller then owns, and the fields of the visit that depend on
 * parameters. If false, read the request and pass the ask to ask_memo_keep. */
bool ask_memo_find(struct ask_memo *memo, const struct http_request *request, struct visit *visit,
                   struct ask *ask);
void ask_memo_keep(struct ask_memo *memo, const struct visit *visit, const struct ask *ask);

#endif
