/* Replies in the vendor's dialect, plain or JSON, as its clients expect them (docs/protocol.md 8). */
#ifndef SOLVEGATE_PROTO_DIALECT_WRITE_H
#define SOLVEGATE_PROTO_DIALECT_WRITE_H

#include "base/buf.h"

#include <solvegate/event.h>

/* `OK|text` or {"status":1,"request":"text"}. */
void dialect_write_ok(struct buf *out, bool is_json, struct slice text);

/* The bare word or {"status":0,"request":"word"}; also for CAPCHA_NOT_READY and bare results. */
void dialect_write_word(struct buf *out, bool is_json, struct slice word);

/* The reply to res.php?action=get; price is given for get2 only. */
void dialect_write_result(struct buf *out, bool is_json, const struct answer *answer,
                          struct slice price);

/* One part of an `ids=` reply: the text, CAPCHA_NOT_READY or the error, without OK|. */
void dialect_write_part(struct buf *out, const struct answer *answer);

/* The reply to getbalance or threadsinfo. */
void dialect_write_account(struct buf *out, bool is_json, const struct probed *probed);

/* The vendor's code for a refusal or a failure. */
struct slice dialect_word(const struct answer *answer);

#endif
