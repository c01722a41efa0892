/* A scripted HTTP server on the test's own loop: it misbehaves exactly as it is told. */
#ifndef SOLVEGATE_TESTS_FAKE_VENDOR_H
#define SOLVEGATE_TESTS_FAKE_VENDOR_H

#include "base/buf.h"
#include "base/list.h"

#include <uv.h>

struct fake_vendor;

struct fake_conn {
    struct list link;
    uv_tcp_t tcp;
    struct fake_vendor *vendor;
    struct buf input;
    uint32_t requests; /* whole requests read on this connection */
    uint64_t bytes_flooded;
    uv_timer_t drip;
    uint32_t handles_open;
    bool is_closing;
};

/* What to do with one whole request; call one of the answers below, or none to hang. */
typedef void (*fake_script)(struct fake_conn *conn, struct slice request);

struct fake_vendor {
    uv_tcp_t listener;
    struct list conns;
    fake_script script;
    void *context;
    char url[64];      /* "http://127.0.0.1:PORT" */
    uint32_t accepted; /* connections so far */
    uint32_t open, most_open;
    uint32_t requests; /* whole requests so far */
    uint32_t charges;  /* of them, submits: what would be paid */
    bool is_closed;
};

void fake_vendor_open(struct fake_vendor *vendor, uv_loop_t *loop, fake_script script);
/* The loop has to run until is_closed. */
void fake_vendor_close(struct fake_vendor *vendor);
/* Closes every connection, as a server does with idle ones. */
void fake_vendor_drop_all(struct fake_vendor *vendor);

bool fake_is_submit(struct slice request);

void fake_answer(struct fake_conn *conn, const char *body);
void fake_answer_with(struct fake_conn *conn, const char *status, const char *headers,
                      struct slice body);
void fake_send(struct fake_conn *conn, struct slice bytes);
void fake_hang_up(struct fake_conn *conn);
void fake_reset(struct fake_conn *conn);
/* Sends the bytes one at a time, one every 5 ms, for ever. */
void fake_drip(struct fake_conn *conn, const char *start);
/* Sends the head and then zeros until the other side has enough, or limit. */
void fake_flood(struct fake_conn *conn, const char *head, const char *chunk, uint64_t limit);

#endif
