/* One HTTP request to a receiver other than the vendor: its libcurl handle, its limits and its
 * result. */
#ifndef SOLVEGATE_UPSTREAM_POST_H
#define SOLVEGATE_UPSTREAM_POST_H

#include "base/list.h"
#include "base/slice.h"
#include "upstream/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Longest word for the result of a post, with its NUL. */
#define POST_WORD_MAX 32

struct trust;

/* Shared by all posts; outlives them. */
struct post_setup {
    struct sockets *sockets; /* borrowed */
    struct trust *trust;     /* owned */
    void *json_headers;      /* owned curl_slist for a body */
    uint32_t timeout_ms;     /* from the name lookup to the end of the reply */
    bool allow_private;      /* else only public internet addresses are connected to */
};

struct post {
    struct wire wire;
    struct list link; /* in the sender's due or active posts */
    const struct post_setup *setup;
    uint64_t id;
    const char *refusal; /* why it is not sent at all, or NULL */
    uint64_t deadline_ms;
    size_t head_bytes, body_bytes; /* received so far */
    bool is_refused;               /* an address was refused because it is not public */
    bool is_dialled;               /* another address was connected to */
    bool is_sent;                  /* at least part of the request was sent */
    bool has_head;                 /* the reply's complete head arrived */
    bool is_too_big;               /* the reply exceeds its limit */
};

void post_setup_init(struct post_setup *setup, struct trust *take_trust);
void post_setup_close(struct post_setup *setup);

/* A GET, or with a body a POST of JSON. Copies both texts. */
struct post *post_new(const struct post_setup *setup, uint64_t id, struct slice url,
                      struct slice body);
/* A post that ends unsent. refusal must be static. */
struct post *post_new_refused(uint64_t id, const char *refusal);
/* The post must have left its lane. */
void post_free(struct post *post);

/* True if the receiver accepted it. The word contains nothing of URL or reply except the status. */
bool post_conclude(const struct post *post, bool is_ok, uint64_t now_ms, char word[POST_WORD_MAX]);

#endif
