/* Idempotency keys: how a caller may spell them, and their digest within a client (DESIGN.md 5.3). */
#include "base/assert.h"
#include "proto/digest.h"
#include "proto/key.h"

#define IDEMPOTENCY_KEY_MAX 255
#define SCOPE_BYTES 2

struct key idempotency_digest(const struct identity_options *options, client_id scope,
                              struct slice idempotency_key)
{
    /* The client is in front even when solutions are shared by all: retries are nobody else's. */
    char stream[SCOPE_BYTES + IDEMPOTENCY_KEY_MAX] = {(char)(scope & 0xff), (char)(scope >> 8)};
    struct key key;
    ASSERT(idempotency_key.len <= IDEMPOTENCY_KEY_MAX);
    memcpy(stream + SCOPE_BYTES, idempotency_key.data, idempotency_key.len);
    const struct slice scoped = {.data = stream, .len = SCOPE_BYTES + idempotency_key.len};
    digest_bytes(options->secret, SLICE_OF("sg.idem1"), scoped, key.bytes);
    return key;
}

static bool is_visible(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < '!' || s.data[i] > '~')
            return false;
    return true;
}

/* Whether every quote inside is escaped and no backslash hangs at the end (RFC 8941 3.3.3). The
 * backslashes stay: a key is only ever compared. */
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
