/* One HTTP request to somebody who is not the vendor: its libcurl handle, its bounds, how it ended. */
#ifndef SOLVEGATE_UPSTREAM_POST_H
#define SOLVEGATE_UPSTREAM_POST_H

#include "base/list.h"
#include "base/slice.h"
#include "upstream/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Longest word that says how a post ended, with its NUL. */
#define POST_WORD_MAX 32

struct trust;

/* What all posts share; outlives them. */
struct post_setup {
    struct sockets *sockets; /* borrowed */
    struct trust *trust;     /* owned */
    void *json_headers;      /* owned curl_slist for a body */
    uint32_t timeout_ms;     /* from looking up the name to the end of the reply */
    bool allow_private;      /* else only addresses of the public internet are dialled */
};

struct post {
    struct wire wire;
    struct list link; /* in the sender's due or active posts */
    const struct post_setup *setup;
    uint64_t id;
    const char *refusal; /* it is not sent at all, and this is why; NULL otherwise */
    uint64_t deadline_ms;
    size_t head_bytes, body_bytes; /* of the reply, so far */
    bool is_refused;               /* an address was not dialled because it is not public */
    bool is_dialled;               /* another one was */
    bool is_sent;                  /* the request, or some of it */
    bool has_head;                 /* the reply's whole head arrived */
    bool is_too_big;               /* the reply */
};

void post_setup_init(struct post_setup *setup, struct trust *take_trust);
void post_setup_close(struct post_setup *setup);

/* A GET, or with a body a POST of JSON. Both texts are copied. */
struct post *post_new(const struct post_setup *setup, uint64_t id, struct slice url,
                      struct slice body);
/* One that ends unsent. refusal lives as long as the program. */
struct post *post_new_refused(uint64_t id, const char *refusal);
/* Must be out of its lane. */
void post_free(struct post *post);

/* Did the receiver take it? The word has no part of URL or reply in it but the status. */
bool post_conclude(const struct post *post, bool is_ok, uint64_t now_ms, char word[POST_WORD_MAX]);

#endif
