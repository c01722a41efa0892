/* Notices, a scripted receiver and a loop, with every end written down. */
#ifndef SOLVEGATE_TESTS_NOTICE_WORLD_H
#define SOLVEGATE_TESTS_NOTICE_WORLD_H

#include "fake_vendor.h"
#include "upstream/notices.h"

#define ENDS_MAX 64

struct notice_end {
    uint64_t id;
    bool is_delivered;
    char why[64];
};

struct notice_world {
    uv_loop_t loop;
    uv_timer_t watchdog;
    uv_async_t napper; /* for the test that wants it */
    bool is_stuck;     /* something that had to happen did not */
    struct fake_vendor receiver;
    unsigned port; /* of the receiver */
    struct notice_host allow[4];
    struct notices_options options; /* change them before connecting */
    struct notices *notices;
    struct notice_end ends[ENDS_MAX];
    size_t end_count;
    bool is_closed;
    void (*on_end)(struct notice_world *world); /* or NULL */
};

struct notice_world *notice_world_new(fake_script script);
void notice_world_connect(struct notice_world *world);
/* Closes everything and asserts that the loop ends clean. */
void notice_world_free(struct notice_world *world);

/* Sends to http://host:port and path, which is where the receiver is if the host is near. */
bool notice_world_send(struct notice_world *world, uint64_t id, const char *host, const char *path,
                       const char *code);
/* Until so many notices ended in all; fails the test when stuck. */
void notice_world_run_until(struct notice_world *world, size_t end_count);
/* Until the receiver has read so many requests in all. */
void notice_world_run_until_asked(struct notice_world *world, uint32_t request_count);
void notice_world_close_notices(struct notice_world *world);

void notice_world_expect(const struct notice_world *world, size_t place, uint64_t id,
                         bool is_delivered, const char *why);

#endif
