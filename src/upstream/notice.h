/* Pingbacks to callers, sent as the vendor sends its own: GET with id and code (docs/design.md 6.1). */
#ifndef SOLVEGATE_UPSTREAM_NOTICE_H
#define SOLVEGATE_UPSTREAM_NOTICE_H

#include "base/buf.h"
#include "base/err.h"

#include <solvegate/types.h>

struct notices;
struct uv_loop_s;

#define NOTICE_URL_MAX 2048

/* A host of RFC 1035 with "*." before it. */
#define NOTICE_HOST_MAX 256

/* Where callers' pingbacks may go. */
struct notice_host {
    char host[NOTICE_HOST_MAX]; /* "example.com" or "*.example.com" */
    uint16_t port;              /* 0: 80 and 443 */
};

struct notices_options {
    const struct notice_host
        *allow; /* borrowed; outlives the notices. None: callers get no pingbacks */
    size_t allow_count;
    bool allow_private;
    uint32_t timeout_ms;
    uint32_t connections; /* most notices under way */
    const char *ca_file;  /* borrowed; NULL for the system's certificates */
};

/* For the door, before a request is accepted: is it a URL that we would send to at all? *why becomes
 * a sentence for the caller otherwise; it holds nothing of the URL. */
bool notices_allows(const struct notices_options *options, struct slice url, const char **why);

/* The one end of a notice, after one try. Only 200 to 299 is delivered. why is a word without blanks
 * and secrets: "http_" and the status, "timeout", "address_refused", "not_allowed", "name_unknown",
 * "unreachable", "tls_failed", "reply_broken", "reply_too_big" or "too_long". It lives as long as the
 * call. Notices may be sent from here. */
typedef void (*notices_end_fn)(void *context, request_id request, bool is_delivered,
                               const char *why);

/* NULL with a sentence in mistake when callbacks.ca_file is no good or libcurl cannot be used. */
struct notices *notices_new(struct uv_loop_s *loop, const struct notices_options *options,
                            notices_end_fn on_end, void *context, struct buf *mistake);

/* What may be told to whom has changed, for all that is sent from now on; everything else stays as it was. */
void notices_configure(struct notices *notices, const struct notices_options *options);

/* One try. false when as many are under way as may be: try later. on_end is never called before it
 * returns. The URL is judged again, since the configuration may be another than when it was taken. */
bool notices_send(struct notices *notices, request_id request, struct slice url, struct slice code);

/* Aborts what is on the wire; on_end is not called any more. Frees itself before on_closed. */
void notices_close(struct notices *notices, void (*on_closed)(void *context), void *context);

#endif
