/* Identity: what makes two requests the same (docs/design.md 5.1), as a keyed 32-byte digest. */
#ifndef SOLVEGATE_PROTO_KEY_H
#define SOLVEGATE_PROTO_KEY_H

#include "proto/params.h"

#include <solvegate/types.h>

#define IDENTITY_SECRET_BYTES 32
/* The minimum cap of the scratch buffer. */
#define IDENTITY_SCRATCH_BYTES ((size_t)64 * 1024)

/* Normalises a URL that is not an ordinary http or https one (user name, IPv6, IDN). src/upstream
 * implements it with libcurl's URL API, so that proto does not depend on libcurl. The rules are
 * those of pageurl.h: scheme and host lower-cased, default port and fragment dropped, nothing else
 * (dots stay in the path). Writes at most room bytes; returns the length, or a negative number if
 * it is not a URL. */
typedef long (*url_normalize_fn)(struct slice url, char *out, size_t room);

struct identity_options {
    uint8_t secret[IDENTITY_SECRET_BYTES];
    bool include_proxy; /* dedup.include_proxy */
    bool is_global;     /* dedup.scope: global */
    url_normalize_fn normalize_url;
};

/* The scope of a client's keys: they are digested under a secret derived from its name. So the
 * client's position in the configuration does not matter, and a digest costs no more than without
 * scopes. */
struct identity_scope {
    uint8_t secret[IDENTITY_SECRET_BYTES];
};

struct identity_scope identity_scope_of(const struct identity_options *options,
                                        struct slice client);

/* One field of the identity, for /v1/explain. */
struct identity_field {
    struct slice name;  /* canonical: sitekey and googlekey are both "sitekey" */
    struct slice value; /* canonical; "blake2b:<hex>" for an image */
};

struct identity {
    struct key key;
    enum type type;
    bool is_one_time;
    struct slice method; /* canonical: a missing method with a file part is "post" */
    size_t field_count;
    struct identity_field fields[PARAMS_MAX]; /* sorted by name */
    struct slice ignored[PARAMS_MAX];         /* given names that are not part of it */
    size_t ignored_count;
    /* The vendor's code for a mistake that we detect ourselves (ERROR_PAGEURL, ERROR_GOOGLEKEY,
     * ERROR_BAD_PARAMETERS, ERROR_ZERO_CAPTCHA_FILESIZE, ERROR_TOO_BIG_CAPTCHA_FILESIZE, …), or
     * NULL. */
    const char *mistake;
    char mistake_detail[160]; /* the mistake as a sentence that names the parameter */
};

/* Computes the identity of a request. scope is the client's; with a global scope it is ignored and
 * may be NULL. Returns 0, or ERR_INVALID with mistake set. Values of fields live in scratch (reset
 * inside; its cap is at least IDENTITY_SCRATCH_BYTES) or in the params. sodium_init() must have
 * been called. */
int identity_compute(const struct identity_options *options, const struct params *params,
                     const struct identity_scope *scope, struct buf *scratch,
                     struct identity *identity) MUST_CHECK;

#endif
