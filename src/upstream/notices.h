/* Notices to callers, in the form of the vendor's callbacks: GET with id and code (docs/design.md
 * 6.1), or a POST of JSON (docs/createtask.md). */
#ifndef SOLVEGATE_UPSTREAM_NOTICES_H
#define SOLVEGATE_UPSTREAM_NOTICES_H

#include "base/buf.h"
#include "base/err.h"

#include <solvegate/types.h>

struct notices;
struct uv_loop_s;

#define NOTICE_URL_MAX 2048

/* The longest host name of RFC 1035 with "*." before it. */
#define NOTICE_HOST_MAX 256

/* A host to which notices may go. */
struct notice_host {
    char host[NOTICE_HOST_MAX]; /* "example.com" or "*.example.com" */
    uint16_t port;              /* 0: 80 and 443 */
};

struct notices_options {
    const struct notice_host
        *allow; /* borrowed; outlives the notices. Empty: no notices are sent */
    size_t allow_count;
    bool allow_private;
    uint32_t timeout_ms;
    uint32_t connections; /* most notices in progress */
    const char *ca_file;  /* borrowed; NULL: the system's certificates */
};

/* Called once for each notice, after its one try. Only 200 to 299 counts as delivered. why is a
 * word without blanks and secrets: "http_" and the status, "timeout", "address_refused",
 * "not_allowed", "name_unknown", "unreachable", "tls_failed", "reply_broken", "reply_too_big" or
 * "too_long". It is valid during the call. Handlers may send notices. */
typedef void (*notices_end_fn)(void *context, request_id request, bool is_delivered,
                               const char *why);

/* NULL with a sentence in mistake if callbacks.ca_file is unusable or libcurl cannot be used. */
struct notices *notices_new(struct uv_loop_s *loop, const struct notices_options *options,
                            notices_end_fn on_end, void *context, struct buf *mistake);

/* Changes the allowed hosts for all notices sent from now on; all other options stay as they were. */
void notices_configure(struct notices *notices, const struct notices_options *options);

/* Tries once. False if too many are in progress: try later. on_end is never called before it
 * returns. The URL is checked again, since the configuration may have changed since the request was
 * accepted. */
bool notices_send(struct notices *notices, request_id request, struct slice url, struct slice code);

/* Like notices_send, by POST and with the notice as JSON. */
bool notices_post(struct notices *notices, request_id request, struct slice url, struct slice json);

/* Aborts notices on the wire; on_end is not called any more. Frees itself before on_closed. */
void notices_close(struct notices *notices, void (*on_closed)(void *context), void *context);

#endif
