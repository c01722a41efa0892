/* Sends small HTTP requests to the receivers of notices and alerts: bounded, on the loop, one try
 * each. */
#ifndef SOLVEGATE_UPSTREAM_SENDER_H
#define SOLVEGATE_UPSTREAM_SENDER_H

#include "base/buf.h"

struct sender;
struct uv_loop_s;

struct sender_options {
    const char *ca_file;  /* NULL: the system's certificates */
    uint32_t connections; /* most requests in progress */
    uint32_t timeout_ms;  /* per request, from the name lookup to the end of the reply */
    bool allow_private;   /* also send to addresses outside the public internet */
};

/* Called once for each request. It is delivered if the receiver answered 200 to 299; redirects are
 * not followed. word is "http_" and the status, or a fixed word for the failure; it is valid during
 * the call. Handlers may send new requests. */
typedef void (*sender_end_fn)(void *context, uint64_t id, bool is_delivered, const char *word);

/* NULL with a sentence in mistake if the CA file is unusable or libcurl cannot be used. */
struct sender *sender_new(struct uv_loop_s *loop, const struct sender_options *options,
                          sender_end_fn on_end, void *context, struct buf *mistake);

/* Applies from now on, also to open connections. */
void sender_allow_private(struct sender *sender, bool allow_private);

/* These never call on_end before they return; false if too many are in progress. */
bool sender_get(struct sender *sender, uint64_t id, struct slice url);
bool sender_post(struct sender *sender, uint64_t id, struct slice url, struct slice json);
/* Ends as undelivered with this word, which must be static; nothing is sent. */
bool sender_refuse(struct sender *sender, uint64_t id, const char *word);

/* Aborts requests on the wire (on_end is not called any more). Frees itself before on_closed. */
void sender_close(struct sender *sender, void (*on_closed)(void *context), void *context);

#endif
