/* The vendor's callbacks to the URL of a submit: a small HTTP client with kept connections. */
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
    slab_id task; /* passed back with the result */
    slab_id conn; /* passed back too: the connection that waits for the result */
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
    uint32_t connections; /* limit per address */
    uint64_t timeout_ms;
};

struct pingback *pingback_new(struct uv_loop_s *loop, struct clock *clock,
                              const struct pingback_style *style, pingback_done done,
                              void *context);

/* Queues the call; done is always called later, exactly once, unless the call is cancelled. */
void pingback_call(struct pingback *pingback, const struct pingback_call *call);

/* Drops calls that were not sent yet and closes every connection. */
void pingback_cancel(struct pingback *pingback);

/* Starts closing; pingback_free once the loop has run out. */
void pingback_close(struct pingback *pingback);
void pingback_free(struct pingback *pingback);

#endif
