/* Calls to the vendor: libcurl multi on the loop, in lanes, with our own queue of what is due. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_H

#include "base/err.h"
#include "proto/vendor.h"

#include <solvegate/event.h>

struct uv_loop_s;
struct upstream;

struct upstream_options {
    const char *url;     /* "https://ocr.captchaai.com", no trailing slash */
    const char *key;     /* secret */
    const char *ca_file; /* or NULL */
    const char *user_agent;
    bool allow_plain_http; /* else https only, unless the host is loopback */
    uint32_t connections;  /* at most, over all lanes */
    uint32_t queue;        /* calls waiting for a connection, at most */
    uint32_t connect_timeout_ms, submit_timeout_ms, poll_timeout_ms;
    const struct vendor_protocol *protocol; /* borrowed */
    struct vendor_options vendor;
    int64_t (*wall_ms)(void);
};

/* Each call ends in exactly one of these. result's blobs are unref'd by upstream afterwards. */
struct upstream_handlers {
    void *context;
    void (*on_submitted)(void *context, const struct vendor_result *result);
    void (*on_polled)(void *context, const struct vendor_result *result);
    void (*on_probed)(void *context, const struct probed *probed);
};

struct upstream_counters {
    uint64_t calls, errors, connections_opened, bytes_in, bytes_out, epoll_ctl;
    uint32_t active, waiting, lanes;
};

/* NULL with a sentence in mistake when the URL or CA file is no good. */
struct upstream *upstream_new(struct uv_loop_s *loop, const struct upstream_options *options,
                              const struct upstream_handlers *handlers, struct buf *mistake);

/* Never calls back before it returns. pingback is the whole URL or not given. Submits go before
 * polls. */
void upstream_submit(struct upstream *upstream, attempt_id attempt, const struct blob *params,
                     struct slice pingback);
void upstream_poll(struct upstream *upstream, attempt_id attempt, struct slice task_id);
/* Takes back a submit or poll that waits for a connection: it ends with OUTCOME_WITHDRAWN. What has a connection
 * goes on. */
void upstream_withdraw(struct upstream *upstream, attempt_id attempt, bool is_poll);
/* The same for every submit that waits. */
void upstream_withdraw_submits(struct upstream *upstream);
void upstream_report(struct upstream *upstream, struct slice task_id, bool is_good);
void upstream_probe(struct upstream *upstream, enum probe probe);

/* Every submit that still waits for a connection. Nothing may be asked for meanwhile. */
void upstream_each_waiting_submit(const struct upstream *upstream,
                                  void (*see)(void *context, attempt_id attempt), void *context);

void upstream_counters(const struct upstream *upstream, struct upstream_counters *counters);

/* Aborts what is on the wire (no handler is called any more); on_closed when the last handle is
 * gone. */
void upstream_close(struct upstream *upstream, void (*on_closed)(void *context), void *context);
void upstream_free(struct upstream *upstream);

#endif
