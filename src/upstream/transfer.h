/* One call to the vendor: a reusable libcurl handle with its request and the reply so far. */
#ifndef SOLVEGATE_UPSTREAM_TRANSFER_H
#define SOLVEGATE_UPSTREAM_TRANSFER_H

#include "base/list.h"
#include "proto/vendor.h"
#include "upstream/sessions.h"
#include "upstream/valve.h"
#include "upstream/wire.h"

struct sockets;
struct trust;

enum call_kind {
    CALL_SUBMIT,
    CALL_POLL,
    CALL_REPORT,
    CALL_THREADS,
    CALL_BALANCE,
};

/* Shared by all transfers; outlives them. */
struct transfer_setup {
    void *submit_url, *query_url; /* owned, each a CURLU */
    struct trust *trust;          /* owned; NULL without TLS */
    struct sessions *sessions;    /* owned; NULL without TLS */
    char *user_agent;             /* owned */
    const char *protocols;        /* the one allowed scheme */
    bool has_tls;
    bool may_http2;
    bool has_http2;        /* the last reply was HTTP/2; before the first one: it may be */
    bool must_be_loopback; /* plain HTTP is allowed only because the host is loopback */
    uint32_t connect_timeout_ms;
    struct sockets *sockets; /* borrowed */
    void *form_headers;      /* owned curl_slist for large urlencoded bodies */
};

struct transfer {
    struct list link; /* in the upstream's idle transfers or deadlines */
    const struct transfer_setup *setup;
    struct wire wire;
    struct sessions_user sessions;
    enum call_kind kind;
    attempt_id attempt;
    uint64_t deadline_ms;
    struct buf body;         /* holds the secret key */
    struct buf content_type; /* of a multipart body */
    void *headers;           /* owned curl_slist for a multipart body, or NULL */
    struct buf reply;
    size_t header_bytes;
    bool is_http2;  /* of the reply, once it began */
    uint32_t sends; /* how often libcurl was about to send the request */
    bool is_too_big;
    struct valve_mark before_send; /* of its connection, when libcurl was about to send it */
    unsigned long long stream;     /* of HTTP/2, once known; else 0 */
    bool is_refused;               /* the vendor said that it did not act upon the request */
    bool is_on_submit_url;         /* the URL set in the handle, to avoid setting it again */
    char retry_after[64];
    size_t retry_after_len;
};

/* False with a sentence if libcurl lacks a feature that we need. */
bool transfer_setup_init(struct transfer_setup *setup);
void transfer_setup_close(struct transfer_setup *setup);

struct transfer *transfer_new(const struct transfer_setup *setup);
void transfer_free(struct transfer *transfer);

/* Clears the last call. Then fill body (and content_type), and arm. */
void transfer_reset(struct transfer *transfer, enum call_kind kind, attempt_id attempt);
void transfer_arm(struct transfer *transfer, uint64_t now_ms);

/* Its time is up; call it before it leaves its lane. The next call gets another connection, if no
 * other call is on this one: a vendor may allow no more streams on it. */
void transfer_give_up(struct transfer *transfer);

/* The reply so far; is_ok if libcurl reported no error. Points into the transfer. */
void transfer_reply(const struct transfer *transfer, bool is_ok, int64_t wall_ms,
                    struct vendor_reply *reply);
/* May it be used for another call? */
bool transfer_is_clean(const struct transfer *transfer, bool is_ok);
uint64_t transfer_bytes_out(const struct transfer *transfer);

#endif
