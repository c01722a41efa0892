/* Calls to the vendor: libcurl multi handles on the loop, in lanes, with our own queue of due
 * calls. */
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
    bool allow_plain_http; /* else only https, unless the host is loopback */
    bool http2;            /* over TLS, if the vendor speaks it */
    uint32_t connections;  /* limit over all lanes */
    uint32_t queue;        /* limit of calls that wait for a connection */
    uint32_t connect_timeout_ms, submit_timeout_ms, poll_timeout_ms;
    const struct vendor_protocol *protocol; /* borrowed */
    struct vendor_options vendor;
    int64_t (*wall_ms)(void);
};

/* Each call ends in exactly one of these. Afterwards upstream releases the result's blobs. */
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

/* Never calls back before it returns. pingback is the whole URL, or not given. Submits go before
 * polls. */
void upstream_submit(struct upstream *upstream, attempt_id attempt, const struct blob *params,
                     struct slice pingback);
void upstream_poll(struct upstream *upstream, attempt_id attempt, struct slice task_id);
/* Withdraws a submit or poll that waits for a connection: it ends with OUTCOME_WITHDRAWN. A call
 * that has a connection continues. */
void upstream_withdraw(struct upstream *upstream, attempt_id attempt, bool is_poll);
/* As upstream_withdraw, for every waiting submit. */
void upstream_withdraw_submits(struct upstream *upstream);
void upstream_report(struct upstream *upstream, struct slice task_id, bool is_good);
void upstream_probe(struct upstream *upstream, enum probe probe);

/* Calls the function for every submit that waits for a connection; it must not start any call. */
void upstream_each_waiting_submit(const struct upstream *upstream,
                                  void (*see)(void *context, attempt_id attempt), void *context);

void upstream_counters(const struct upstream *upstream, struct upstream_counters *counters);

#endif
