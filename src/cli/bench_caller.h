/* Many HTTP calls at once to one server, on the gateway's own lanes of libcurl. */
#ifndef SOLVEGATE_CLI_BENCH_CALLER_H
#define SOLVEGATE_CLI_BENCH_CALLER_H

#include "cli/bench_guard.h"
#include "cli/bench_talk.h"

struct uv_loop_s;
struct bench_caller;

struct bench_result {
    long status;         /* 0 if there was no reply */
    struct slice body;   /* valid during the call only */
    const char *trouble; /* why there was no reply: a word, or NULL */
    unsigned sends; /* how often it went out: never without a connection; only looks are repeated */
};

struct bench_caller_setup {
    const char *url;            /* borrowed: http://HOST:PORT, https://... or unix:PATH */
    const char *const *headers; /* lines, copied */
    size_t header_count;
    bench_guard_rule *allows; /* asked at each connection; NULL: every address */
    void *context;
    /* May send more. */
    void (*on_done)(void *context, void *job, const struct bench_result *result);
};

/* NULL if there is no descriptor left or libcurl does not start. */
struct bench_caller *bench_caller_new(struct uv_loop_s *loop,
                                      const struct bench_caller_setup *setup);

/* The call goes out with the next turn of the loop. The message is taken over byte by byte and stays the caller's. */
void bench_caller_send(struct bench_caller *caller, void *job, const struct bench_message *message,
                       unsigned timeout_ms);

/* Gives up all calls without a report. Once the loop has ended, bench_caller_free may be called. */
void bench_caller_close(struct bench_caller *caller);
void bench_caller_free(struct bench_caller *caller);

#endif
