#include "cli/bench_tally.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

struct bench_tally *bench_tally_new(void)
{
    struct bench_tally *const tally = calloc(1, sizeof *tally);
    ASSERT(tally != NULL);
    tally->interval_s = 1;
    return tally;
}

void bench_tally_free(struct bench_tally *tally)
{
    free(tally);
}

void bench_tally_sent(struct bench_tally *tally, size_t step, uint64_t lag_us)
{
    tally->sent++;
    tally->now.sent++;
    tally->steps[step].sent++;
    percentiles_add(&tally->lag_us, lag_us);
}

void bench_tally_solved(struct bench_tally *tally, size_t step, uint64_t latency_us, int source)
{
    tally->solved++;
    tally->now.solved++;
    percentiles_add(&tally->latency_us, latency_us);
    percentiles_add(&tally->now_us, latency_us);
    percentiles_add(&tally->steps[step].latency_us, latency_us);
    if (source >= 0 && source < SOURCE_COUNT)
        tally->sources[source]++;
}

void bench_tally_told(struct bench_tally *tally, uint64_t sooner_us)
{
    percentiles_add(&tally->told_us, sooner_us);
}

/* The last row is for all codes that found no room. */
static struct bench_code *find_code(struct bench_tally *tally, const char *code)
{
    for (size_t i = 0; i < tally->code_count; i++)
        if (strcmp(tally->codes[i].code, code) == 0)
            return &tally->codes[i];
    const bool is_last = tally->code_count >= BENCH_CODES_MAX - 1;
    if (tally->code_count == BENCH_CODES_MAX)
        return &tally->codes[BENCH_CODES_MAX - 1];
    struct bench_code *const row = &tally->codes[tally->code_count++];
    (void)snprintf(row->code, sizeof row->code, "%s", is_last ? "other" : code);
    return row;
}

void bench_tally_failed(struct bench_tally *tally, size_t step, const char *code)
{
    tally->failed++;
    tally->now.failed++;
    tally->steps[step].failed++;
    find_code(tally, code)->count++;
}

/* ---- from second to second --------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct bench_interval joined(const struct bench_interval *a, const struct bench_interval *b)
{
    return (struct bench_interval){
        .sent = a->sent + b->sent,
        .solved = a->solved + b->solved,
        .failed = a->failed + b->failed,
        .in_flight = b->in_flight,
        .p50_us = (a->p50_us + b->p50_us) / 2,
        .p99_us = larger(a->p99_us, b->p99_us),
    };
}

static void halve(struct bench_tally *tally)
{
    tally->interval_count /= 2;
    for (size_t i = 0; i < tally->interval_count; i++)
        tally->intervals[i] = joined(&tally->intervals[2 * i], &tally->intervals[2 * i + 1]);
    tally->interval_s *= 2;
}

static void end_interval(struct bench_tally *tally, uint64_t in_flight)
{
    tally->now.in_flight = in_flight;
    tally->now.p50_us = percentiles_at(&tally->now_us, 0.5);
    tally->now.p99_us = percentiles_at(&tally->now_us, 0.99);
    tally->intervals[tally->interval_count++] = tally->now;
    tally->now = (struct bench_interval){.sent = 0};
    tally->now_seconds = 0;
    percentiles_reset(&tally->now_us);
    if (tally->interval_count == BENCH_INTERVALS_MAX)
        halve(tally);
}

void bench_tally_second(struct bench_tally *tally, uint64_t in_flight)
{
    if (++tally->now_seconds >= tally->interval_s)
        end_interval(tally, in_flight);
}

void bench_tally_end(struct bench_tally *tally, uint64_t in_flight)
{
    if (tally->now.sent > 0 || tally->now.solved > 0 || tally->now.failed > 0)
        end_interval(tally, in_flight);
}

/* ---- the end ----------------------------------------------------------------------------- */

static int compare_codes(const void *a, const void *b)
{
    const struct bench_code *const left = a;
    const struct bench_code *const right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return strcmp(left->code, right->code);
}

void bench_tally_sort(struct bench_tally *tally)
{
    qsort(tally->codes, tally->code_count, sizeof tally->codes[0], compare_codes);
}
