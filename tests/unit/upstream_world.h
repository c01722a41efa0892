/* An upstream, a scripted vendor and a loop, with every result written down. */
#ifndef SOLVEGATE_TESTS_UPSTREAM_WORLD_H
#define SOLVEGATE_TESTS_UPSTREAM_WORLD_H

#include "fake_vendor.h"
#include "upstream/upstream.h"

#define WORLD_RESULTS_MAX 4096

struct world_result {
    bool is_submit;
    struct vendor_result result; /* blobs are not kept */
    char text[256];
};

struct world {
    uv_loop_t loop;
    uv_timer_t watchdog;
    bool is_stuck; /* the watchdog fired: something that had to happen did not */
    struct fake_vendor vendor;
    struct upstream_options options;
    struct upstream *upstream;
    struct world_result results[WORLD_RESULTS_MAX];
    uint32_t result_count;
    struct probed probed;
    uint32_t probed_count;
    bool is_upstream_closed;
    void (*on_result)(struct world *world); /* or NULL */
};

/* Starts the vendor and fills the options; change them, then connect. */
struct world *world_new(fake_script script);
void world_connect(struct world *world);
/* Closes everything and asserts that the loop ends clean. */
void world_free(struct world *world);

void world_submit(struct world *world, attempt_id attempt);
void world_poll(struct world *world, attempt_id attempt);
/* Until so many results (or probes) are there in all; fails the test when stuck. */
void world_run_until(struct world *world, uint32_t result_count);
void world_run_until_probed(struct world *world);
/* Until the vendor has read so many requests in all. */
void world_run_until_asked(struct world *world, uint32_t request_count);
void assert_result(const struct world_result *kept, enum outcome outcome, enum error_class class,
                   const char *code);
/* Runs the loop for a while. */
void world_run_for(struct world *world, uint64_t ms);

#endif
