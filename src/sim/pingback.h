/* The vendor's calls to the URL a submit named: a small HTTP client with kept connections. */
#ifndef SOLVEGATE_SIM_PINGBACK_H
#define SOLVEGATE_SIM_PINGBACK_H

#include "base/slab.h"
#include "base/slice.h"

#include "sim/clock.h"

struct pingback;

enum callback_sort {
    CALLBACK_TRUE,
    CALLBACK_REPEAT,
    CALLBACK_FORGED,
    CALLBACK_OTHER_CODE,
    CALLBACK_ERROR,
};

struct pingback_call {
    struct slice url; /* http, a numeric address or localhost; all slices are copied */
    struct slice id;
    struct slice code;
    uint64_t delay_ms;
    slab_id task; /* handed back with the result */
    slab_id conn; /* the same: who waits for it */
    enum callback_sort sort;
};

struct pingback_result {
    slab_id task;
    slab_id conn;
    enum callback_sort sort;
    int status; /* HTTP status, or a negative libuv error */
};

typedef void (*pingback_done)(void *context, const struct pingback_result *result);

struct pingback_style {
    bool is_post;
    uint32_t connections; /* to one address */
    uint64_t timeout_ms;
};

struct pingback *pingback_new(struct uv_loop_s *loop, struct clock *clock,
                              const struct pingback_style *style, pingback_done done,
                              void *context);

/* Queues the call; done is always called later, exactly once, unless it is cancelled. */
void pingback_call(struct pingback *pingback, const struct pingback_call *call);

/* Forgets what was not sent yet and lets go of every connection. */
void pingback_cancel(struct pingback *pingback);

/* Starts closing; pingback_free once the loop has run out. */
void pingback_close(struct pingback *pingback);
void pingback_free(struct pingback *pingback);

#endif
