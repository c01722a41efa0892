/* A record of who asked for what and when, as JSON lines, to be sent again. */
#ifndef SOLVEGATE_CLI_BENCH_TRACE_H
#define SOLVEGATE_CLI_BENCH_TRACE_H

#include "base/buf.h"

#define BENCH_TRACE_MAX 1000000U
#define BENCH_TRACE_METHODS_MAX 16
#define BENCH_TRACE_METHOD_ROOM 48

struct bench_trace_line {
    uint64_t at_us;  /* since the first request */
    uint64_t target; /* equal numbers are the same captcha */
    unsigned method; /* an index */
};

struct bench_trace {
    struct bench_trace_line *lines; /* owned; by time */
    size_t count, room;
    char methods[BENCH_TRACE_METHODS_MAX][BENCH_TRACE_METHOD_ROOM];
    size_t method_count;
};

/* One line: {"at":1.25,"target":"49d74f36e46e","method":"turnstile"} */
void bench_trace_write_line(struct buf *out, uint64_t at_us, const char *target,
                            const char *method);

/* Reads all lines; 0, or the number of the first one that is wrong (from 1), and why: words that follow it. Times
 * become relative to the earliest. Close it in any case. */
size_t bench_trace_read(struct bench_trace *trace, struct slice text, const char **why);
void bench_trace_close(struct bench_trace *trace);

const char *bench_trace_method(const struct bench_trace *trace, size_t line);
/* How many different captchas there are. */
size_t bench_trace_targets(const struct bench_trace *trace);
/* The most requests in any second, if it is sent so many times as fast. */
double bench_trace_top_rate(const struct bench_trace *trace, double speed);

#endif
