/* The books as JSON: today, the days before and all since start, by client and by type. */
#include "proto/api.h"
#include "proto/json_out.h"

#include <solvegate/words.h>

#include <string.h>
#include <time.h>

/* ---- shares ------------------------------------------------------------------------------ */

static uint64_t permille(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : part * 1000 / whole;
}

/* A share in percent with one decimal. */
static void json_percent(struct buf *out, const char *name, uint64_t part, uint64_t whole)
{
    const uint64_t share = permille(part, whole);
    json_member(out, name);
    buf_addf(out, "%llu.%llu", (unsigned long long)(share / 10), (unsigned long long)(share % 10));
}

static void write_page(struct buf *out, const struct stats *stats)
{
    const uint64_t saved = stats->answered_dedup_wait + stats->answered_dedup_cache +
                           stats->answered_idempotent + stats->answered_pool;
    const uint64_t answered = saved + stats->answered_api;
#define STATS_AS_JSON(field, text) json_number(out, #field, stats->field);
    STATS_LIST(STATS_AS_JSON)
#undef STATS_AS_JSON
    json_number(out, "deduplicated", saved);
    json_percent(out, "savings_pct", saved, answered);
    json_percent(out, "hit_rate", stats->cache_hits, stats->cache_hits + stats->cache_misses);
}

/* ---- by client and by type --------------------------------------------------------------- */

static void json_money(struct buf *out, const char *name, uint64_t micro)
{
    json_member(out, name);
    buf_addf(out, "%llu.%06u", (unsigned long long)(micro / 1000000), (unsigned)(micro % 1000000));
}

static void add_tally(struct tally *sum, const struct tally *tally)
{
#define TALLY_ADD(field, text) sum->field += tally->field;
    TALLY_LIST(TALLY_ADD)
#undef TALLY_ADD
}

static bool is_empty(const struct tally *tally)
{
    static const struct tally nothing;
    return memcmp(tally, &nothing, sizeof(nothing)) == 0;
}

static void write_money(struct buf *out, const struct tally *tally)
{
    json_money(out, "money_spent", tally->spent_micro);
    json_money(out, "money_saved", tally->saved_micro);
}

/* Whoever did nothing is left out. */
static void write_tally(struct buf *out, const char *name, const struct tally *tally,
                        const struct stats_scope *scope)
{
    if (is_empty(tally))
        return;
    json_member(out, name);
    json_open(out, '{');
    json_number(out, "requests", tally->requests);
    json_number(out, "answered", tally->answered);
    json_number(out, "deduplicated", tally->deduplicated);
    json_number(out, "failed", tally->failed);
    json_number(out, "rejected", tally->rejected);
    json_number(out, "detached", tally->detached);
    json_number(out, "paid", tally->paid);
    json_number(out, "slot_ms_used", tally->slot_ms_used);
    json_number(out, "slot_ms_saved", tally->slot_ms_saved);
    json_percent(out, "savings_pct", tally->deduplicated, tally->deduplicated + tally->answered);
    if (scope->has_price)
        write_money(out, tally);
    json_close(out, '}');
}

static void write_clients(struct buf *out, const struct tally *tallies,
                          const struct stats_scope *scope)
{
    json_member(out, "by_client");
    json_open(out, '{');
    for (uint16_t client = 0; client < scope->client_count; client++) {
        struct tally sum = {0};
        for (size_t type = 0; type < CAPTCHA_COUNT; type++)
            add_tally(&sum, &tallies[client * CAPTCHA_COUNT + type]);
        write_tally(out, scope->names->client_name(scope->names->context, client), &sum, scope);
    }
    json_close(out, '}');
}

/* Of everybody together at last, which is where the money comes from. */
static void write_types(struct buf *out, const struct tally *tallies,
                        const struct stats_scope *scope)
{
    struct tally all = {0};
    json_member(out, "by_type");
    json_open(out, '{');
    for (size_t type = 0; type < CAPTCHA_COUNT; type++) {
        struct tally sum = {0};
        for (uint16_t client = 0; client < scope->client_count; client++)
            add_tally(&sum, &tallies[client * CAPTCHA_COUNT + type]);
        write_tally(out, captcha_name((enum captcha)type), &sum, scope);
        add_tally(&all, &sum);
    }
    json_close(out, '}');
    if (scope->has_price)
        write_money(out, &all);
}

/* No name has small letters, so "other" is not one of them. */
static void write_unknown_errors(struct buf *out, const struct unknown_errors *errors)
{
    json_member(out, "unknown_errors");
    json_open(out, '{');
    for (size_t i = 0; i < errors->count; i++)
        json_number(out, errors->items[i].name, errors->items[i].times);
    if (errors->other_times > 0)
        json_number(out, "other", errors->other_times);
    json_close(out, '}');
}

static void write_all(struct buf *out, const struct stats_page *page,
                      const struct stats_scope *scope)
{
    write_page(out, page->stats);
    write_clients(out, page->tallies, scope);
    write_types(out, page->tallies, scope);
    if (page->unknown_errors != NULL)
        write_unknown_errors(out, page->unknown_errors);
}

/* ---- pages ------------------------------------------------------------------------------- */

static void write_day(struct buf *out, const struct stats_page *page,
                      const struct stats_scope *scope)
{
    const time_t seconds = (time_t)(page->day * 86400);
    struct tm date;
    char text[16];
    gmtime_r(&seconds, &date);
    strftime(text, sizeof text, "%Y-%m-%d", &date);
    json_open(out, '{');
    json_string(out, "date", text);
    write_all(out, page, scope);
    json_close(out, '}');
}

static void write_gauges(struct buf *out, const struct gauges *gauges)
{
    json_member(out, "now");
    json_open(out, '{');
    json_number(out, "waiting", gauges->waiting);
    json_number(out, "flights", gauges->flights);
    json_number(out, "queued", gauges->queued);
    json_number(out, "held_callers", gauges->callers);
    json_number(out, "solutions", gauges->solutions);
    json_number(out, "solution_bytes", gauges->solution_bytes);
    json_number(out, "idempotency_records", gauges->idempotency);
    json_number(out, "letters", gauges->letters);
    json_number(out, "letters_to_replay", gauges->replays);
    json_number(out, "slots_used", gauges->slots_used);
    json_number(out, "slots_limit", gauges->slots_limit);
    json_number(out, "slots_plan", gauges->slots_plan);
    json_bool(out, "slots_cut", gauges->slots_are_cut);
    json_bool(out, "callbacks_healthy", gauges->callbacks_are_healthy);
    json_string(out, "breaker", breaker_state_name(gauges->breaker));
    if (gauges->breaker != BREAKER_CLOSED)
        json_string(out, "breaker_cause", gauges->breaker_cause);
    json_close(out, '}');
}

static void write_service(struct buf *out, const struct stats_service *service)
{
    json_member(out, "service");
    json_open(out, '{');
    json_string(out, "version", service->version);
    json_seconds(out, "uptime", service->uptime_ms);
    json_bool(out, "draining", service->is_draining);
    json_string(out, "store", service->store);
    json_bool(out, "callbacks", service->has_callbacks);
    json_close(out, '}');
}

void api_write_stats(struct buf *out, const struct gauges *gauges, const struct stats_page *total,
                     const struct stats_page *pages, size_t page_count,
                     const struct stats_scope *scope, const struct stats_service *service)
{
    json_open(out, '{');
    write_gauges(out, gauges);
    json_member(out, "total");
    json_open(out, '{');
    write_all(out, total, scope);
    json_close(out, '}');
    json_member(out, "today");
    write_day(out, &pages[0], scope);
    json_member(out, "days");
    json_open(out, '[');
    for (size_t i = 1; i < page_count; i++)
        write_day(out, &pages[i], scope);
    json_close(out, ']');
    write_service(out, service);
    json_close(out, '}');
}
