/* Sends small HTTP requests to receivers of notices and alerts: bounded, on the loop, one try each. */
#ifndef SOLVEGATE_UPSTREAM_SENDER_H
#define SOLVEGATE_UPSTREAM_SENDER_H

#include "base/buf.h"

struct sender;
struct uv_loop_s;

struct sender_options {
    const char *ca_file;  /* NULL for the system's certificates */
    uint32_t connections; /* most requests under way */
    uint32_t timeout_ms;  /* of each, from looking up the name to the end of the reply */
    bool allow_private;   /* also to addresses that are not of the public internet */
};

/* The one end of a request. It is delivered when the receiver answered 200 to 299; redirects are not
 * followed. word is "http_" and the status, or a fixed word for what went wrong; it lives as long as
 * the call. New requests may be sent from here. */
typedef void (*sender_end_fn)(void *context, uint64_t id, bool is_delivered, const char *word);

/* NULL with a sentence in mistake when the CA file is no good or libcurl cannot be used. */
struct sender *sender_new(struct uv_loop_s *loop, const struct sender_options *options,
                          sender_end_fn on_end, void *context, struct buf *mistake);

/* From now on, also on connections that are open already. */
void sender_allow_private(struct sender *sender, bool allow_private);

/* All of these never call on_end before they return; false when as many are under way as may be. */
bool sender_get(struct sender *sender, uint64_t id, struct slice url);
bool sender_post(struct sender *sender, uint64_t id, struct slice url, struct slice json);
/* Ends as undelivered with this word, which must live as long as the program; nothing is sent. */
bool sender_refuse(struct sender *sender, uint64_t id, const char *word);

/* Aborts what is on the wire (on_end is not called any more). Frees itself before on_closed. */
void sender_close(struct sender *sender, void (*on_closed)(void *context), void *context);

#endif
