/* Identity: what makes two requests the same (docs/design.md 5.1), as a keyed 32-byte digest. */
#ifndef SOLVEGATE_PROTO_KEY_H
#define SOLVEGATE_PROTO_KEY_H

#include "proto/params.h"

#include <solvegate/types.h>

#define IDENTITY_SECRET_BYTES 32
/* The least cap of the scratch buffer. */
#define IDENTITY_SCRATCH_BYTES ((size_t)64 * 1024)

/* Normalises a URL that is not an ordinary http or https one (user name, IPv6, IDN); libcurl's URL
 * API does it in io, so that proto stays free of libcurl. As pageurl.h: scheme and host lower-cased,
 * default port and fragment dropped, nothing else (no removal of dots from the path). Writes at
 * most room bytes; returns the length, or negative if it is no URL. */
typedef long (*url_normalize_fn)(struct slice url, char *out, size_t room);

struct identity_options {
    uint8_t secret[IDENTITY_SECRET_BYTES];
    bool include_proxy; /* dedup.include_proxy */
    bool is_global;     /* dedup.scope: global */
    url_normalize_fn normalize_url;
};

/* Whose keys: those of each client are digested under a secret of its own, made of its name. So a client's
 * place among the others means nothing, and a digest costs no more than without. */
struct identity_scope {
    uint8_t secret[IDENTITY_SECRET_BYTES];
};

struct identity_scope identity_scope_of(const struct identity_options *options,
                                        struct slice client);

/* One field that counted, for /v1/explain. */
struct identity_field {
    struct slice name;  /* canonical: sitekey and googlekey are both "sitekey" */
    struct slice value; /* canonical; of an image "blake2b:<hex>" */
};

struct identity {
    struct key key;
    enum type type;
    bool is_one_time;
    struct slice method; /* canonical: a missing method with a file part is "post" */
    size_t field_count;
    struct identity_field fields[PARAMS_MAX]; /* sorted by name */
    struct slice ignored[PARAMS_MAX];         /* names given that did not count */
    size_t ignored_count;
    /* The vendor's word for a mistake we can see ourselves (ERROR_PAGEURL, ERROR_GOOGLEKEY,
     * ERROR_BAD_PARAMETERS, ERROR_ZERO_CAPTCHA_FILESIZE, ERROR_TOO_BIG_CAPTCHA_FILESIZE, …), or NULL. */
    const char *mistake;
    char mistake_detail[160]; /* the same for a person: names the parameter */
};

/* scope is the client's, ignored (and perhaps NULL) when the scope is global. Returns 0, or ERR_INVALID with
 * mistake set. Values of fields live in scratch (reset inside; its cap is at least
 * IDENTITY_SCRATCH_BYTES) or in the params. Wants sodium_init() to have been called. */
int identity_compute(const struct identity_options *options, const struct params *params,
                     const struct identity_scope *scope, struct buf *scratch,
                     struct identity *identity) MUST_CHECK;

/* Digest of an idempotency key within its client, also when solutions are shared by all: retries are nobody
 * else's. */
struct key idempotency_digest(const struct identity_scope *scope, struct slice idempotency_key);

/* 1 to 255 visible ASCII characters, quotes taken off; false leaves *out alone (docs/design.md 5.3). */
bool idempotency_key_parse(struct slice raw, struct slice *out);

#endif
