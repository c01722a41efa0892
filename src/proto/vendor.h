/* The vendor's side of the wire: interprets the replies, and the table of a protocol's functions. */
#ifndef SOLVEGATE_PROTO_VENDOR_H
#define SOLVEGATE_PROTO_VENDOR_H

#include "base/buf.h"
#include "base/err.h"

#include <solvegate/event.h>

/* Overrides of the error table from the config (`errors`). */
struct error_override {
    char code[ERROR_CODE_MAX];
    enum error_class class;
};

struct vendor_options {
    const struct error_override *overrides; /* borrowed */
    size_t override_count;
};

/* Maximum bytes read of a reply: the largest solution with each byte escaped, and as much again for
 * the rest. */
#define VENDOR_REPLY_MAX_BYTES ((size_t)512 * 1024)

/* How a reply arrived, as reported by libcurl. */
struct vendor_reply {
    bool is_sent;             /* the request may have reached the vendor: PREREQ was called */
    bool is_complete;         /* the transfer ended without a transport error */
    long http_status;         /* 0 without a reply */
    struct slice body;        /* the bytes that arrived, at most the reply cap; may be partial */
    bool is_too_big;          /* the cap was hit */
    struct slice retry_after; /* header value, or not given */
    int64_t wall_ms;          /* to interpret a Retry-After date */
};

/* Each fills in the result except attempt and caller. The caller owns text and extra: unref them
 * after the step. The rules are docs/reliability.md 5.4 and docs/protocol.md 2. */
void vendor_read_submit(const struct vendor_options *options, const struct vendor_reply *reply,
                        struct vendor_result *result);
void vendor_read_poll(const struct vendor_options *options, const struct vendor_reply *reply,
                      struct vendor_result *result);
/* The reply to threadsinfo or getbalance. */
void vendor_read_probe(const struct vendor_options *options, const struct vendor_reply *reply,
                       enum probe probe, struct probed *probed);
/* A callback's id (may be empty) and code. PENDING and UNHEARD (an empty code) say nothing about
 * the task: they are acknowledged, but do not end it. */
void vendor_read_callback(const struct vendor_options *options, struct slice id, struct slice code,
                          struct vendor_result *result);

/* All calls except the submit. */
enum vendor_query {
    QUERY_POLL,
    QUERY_REPORT_GOOD,
    QUERY_REPORT_BAD,
    QUERY_THREADS,
    QUERY_BALANCE,
};

/* One vendor's protocol: its two endpoints, how calls are written and what replies mean. Another
 * vendor is another value of this type, with its own readers and writers. */
struct vendor_protocol {
    const char *name;
    const char *submit_path, *query_path;
    int (*write_submit)(const struct blob *packed, struct slice api_key, struct slice pingback,
                        struct buf *body, struct buf *content_type);
    void (*write_query)(struct slice api_key, enum vendor_query query, struct slice task_id,
                        struct buf *body);
    void (*read_submit)(const struct vendor_options *options, const struct vendor_reply *reply,
                        struct vendor_result *result);
    void (*read_poll)(const struct vendor_options *options, const struct vendor_reply *reply,
                      struct vendor_result *result);
    void (*read_probe)(const struct vendor_options *options, const struct vendor_reply *reply,
                       enum probe probe, struct probed *probed);
    void (*read_callback)(const struct vendor_options *options, struct slice id, struct slice code,
                          struct vendor_result *result);
};

/* CaptchaAI's in.php and res.php. */
extern const struct vendor_protocol vendor_captchaai;

#endif
