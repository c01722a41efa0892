/* Idempotency keys: their syntax, and their digest within a client (docs/design.md 5.3). */
#include "proto/idempotency.h"

#include "base/assert.h"
#include "proto/digest.h"

#define IDEMPOTENCY_KEY_MAX 255

struct key idempotency_digest(const struct identity_scope *scope, struct slice idempotency_key)
{
    struct key key;
    ASSERT(idempotency_key.len <= IDEMPOTENCY_KEY_MAX);
    digest_bytes(scope->secret, SLICE_OF("sg.idem2"), idempotency_key, key.bytes);
    return key;
}

static bool is_visible(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < '!' || s.data[i] > '~')
            return false;
    return true;
}

/* Are all inner quotes escaped, and no backslash left at the end (RFC 8941 3.3.3)? The backslashes
 * stay, because a key is only ever compared. */
static bool is_escaped(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '"')
            return false;
        if (s.data[i] == '\\' && ++i == s.len)
            return false;
    }
    return true;
}

bool idempotency_key_parse(struct slice raw, struct slice *out)
{
    struct slice key = slice_trim(raw);
    if (key.len > 0 && key.data[0] == '"') {
        if (key.len < 2 || key.data[key.len - 1] != '"')
            return false;
        key = (struct slice){.data = key.data + 1, .len = key.len - 2};
        if (!is_escaped(key))
            return false;
    }
    if (key.len == 0 || key.len > IDEMPOTENCY_KEY_MAX || !is_visible(key))
        return false;
    *out = key;
    return true;
}
