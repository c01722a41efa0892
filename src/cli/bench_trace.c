#include "cli/bench_trace.h"

#include "base/assert.h"
#include "proto/json_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#define US_PER_S 1e6
/* A week; what is longer is no trace of ours. */
#define AT_MAX_S 604800.0

void bench_trace_write_line(struct buf *out, uint64_t at_us, const char *target, const char *method)
{
    /* Not json_open: lines are not separated by commas. */
    buf_add_char(out, '{');
    json_member(out, "at");
    buf_addf(out, "%.3f", (double)at_us / US_PER_S);
    json_string(out, "target", target);
    json_string(out, "method", method);
    buf_add(out, SLICE_OF("}\n"));
}

/* ---- reading ----------------------------------------------------------------------------- */

static struct bench_trace_line *add_line(struct bench_trace *trace)
{
    if (trace->count == trace->room) {
        trace->room = trace->room == 0 ? 1024 : 2 * trace->room;
        struct bench_trace_line *const lines =
            realloc(trace->lines, trace->room * sizeof *trace->lines);
        ASSERT(lines != NULL);
        trace->lines = lines;
    }
    return &trace->lines[trace->count++];
}

/* BENCH_TRACE_METHODS_MAX if there is no room. */
static unsigned find_method(struct bench_trace *trace, const char *name)
{
    unsigned at = 0;
    while (at < trace->method_count && strcmp(trace->methods[at], name) != 0)
        at++;
    if (at == trace->method_count && at < BENCH_TRACE_METHODS_MAX) {
        (void)snprintf(trace->methods[at], BENCH_TRACE_METHOD_ROOM, "%s", name);
        trace->method_count++;
    }
    return at;
}

/* FNV-1a: any text names a target. */
static uint64_t target_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Adds the line that this object is; NULL, or what is wrong with it. */
static const char *take_line(struct bench_trace *trace, yyjson_val *root)
{
    yyjson_val *const at = yyjson_obj_get(root, "at");
    const char *const target = yyjson_get_str(yyjson_obj_get(root, "target"));
    const char *const method = yyjson_get_str(yyjson_obj_get(root, "method"));
    const double seconds = yyjson_get_num(at);
    if (!yyjson_is_num(at) || seconds < 0 || seconds > AT_MAX_S || target == NULL ||
        method == NULL || *method == '\0')
        return "is no line of a trace";
    if (strlen(method) >= BENCH_TRACE_METHOD_ROOM)
        return "has a method of more than 47 characters";
    if (trace->count == BENCH_TRACE_MAX)
        return "is the first line that is too much: a trace has at most a million";
    const unsigned index = find_method(trace, method);
    if (index == BENCH_TRACE_METHODS_MAX)
        return "has a 17th method: a trace has at most 16 different ones";
    *add_line(trace) = (struct bench_trace_line){.at_us = (uint64_t)(seconds * US_PER_S + 0.5),
                                                 .target = target_of(target),
                                                 .method = index};
    return NULL;
}

static const char *read_line(struct bench_trace *trace, struct slice text)
{
    yyjson_doc *const doc = yyjson_read(text.data, text.len, 0);
    const char *const wrong = take_line(trace, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return wrong;
}

static int compare_times(const void *a, const void *b)
{
    const struct bench_trace_line *const left = a;
    const struct bench_trace_line *const right = b;
    return left->at_us < right->at_us ? -1 : left->at_us > right->at_us;
}

size_t bench_trace_read(struct bench_trace *trace, struct slice text, const char **why)
{
    size_t number = 0;
    *why = NULL;
    *trace = (struct bench_trace){.lines = NULL};
    while (text.len > 0) {
        const struct slice line = slice_trim(slice_take(&text, '\n'));
        number++;
        *why = line.len == 0 ? NULL : read_line(trace, line);
        if (*why != NULL)
            return number;
    }
    if (trace->count == 0) {
        *why = "has no line";
        return 1;
    }
    qsort(trace->lines, trace->count, sizeof trace->lines[0], compare_times);
    const uint64_t first_us = trace->lines[0].at_us;
    for (size_t i = 0; i < trace->count; i++)
        trace->lines[i].at_us -= first_us;
    return 0;
}

void bench_trace_close(struct bench_trace *trace)
{
    free(trace->lines);
    *trace = (struct bench_trace){.lines = NULL};
}

/* ---- questions --------------------------------------------------------------------------- */

const char *bench_trace_method(const struct bench_trace *trace, size_t line)
{
    return trace->methods[trace->lines[line].method];
}

static int compare_targets(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

size_t bench_trace_targets(const struct bench_trace *trace)
{
    size_t different = 0;
    if (trace->count == 0)
        return 0;
    uint64_t *const targets = calloc(trace->count, sizeof *targets);
    ASSERT(targets != NULL);
    for (size_t i = 0; i < trace->count; i++)
        targets[i] = trace->lines[i].target;
    qsort(targets, trace->count, sizeof targets[0], compare_targets);
    for (size_t i = 0; i < trace->count; i++)
        different += i == 0 || targets[i] != targets[i - 1] ? 1 : 0;
    free(targets);
    return different;
}

double bench_trace_top_rate(const struct bench_trace *trace, double speed)
{
    size_t first = 0;
    size_t most = 0;
    for (size_t i = 0; i < trace->count; i++) {
        while ((double)(trace->lines[i].at_us - trace->lines[first].at_us) >= US_PER_S * speed)
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return (double)most;
}
