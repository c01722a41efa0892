/* The books as JSON: today, the days before, and the totals since start, by client and by type. */
#include "proto/api_stats.h"

#include "proto/api.h"
#include "proto/api_money.h"
#include "proto/api_shadow.h"
#include "proto/books.h"
#include "proto/json_out.h"

#include <solvegate/words.h>

#include <string.h>
#include <time.h>

static void write_page(struct buf *out, const struct stats *stats)
{
    const uint64_t saved = stats->answered_dedup_wait + stats->answered_dedup_cache +
                           stats->answered_idempotent + stats->answered_pool;
    const uint64_t answered = saved + stats->answered_api;
#define STATS_AS_JSON(field, unit, metric, labels, text) json_number(out, #field, stats->field);
    STATS_LIST(STATS_AS_JSON)
#undef STATS_AS_JSON
    json_number(out, "deduplicated", saved);
    json_percent(out, "savings_pct", saved, answered);
    json_percent(out, "hit_rate", stats->cache_hits, stats->cache_hits + stats->cache_misses);
}

/* ---- by client and by type --------------------------------------------------------------- */

static bool is_empty(const struct tally *tally)
{
    static const struct tally nothing;
    return memcmp(tally, &nothing, sizeof nothing) == 0;
}

static void write_money(struct buf *out, const struct tally *tally)
{
    json_money(out, "money_spent", tally->spent_micro);
    json_money(out, "money_saved", tally->saved_micro);
}

/* Writes one tally; an empty one is left out. */
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
    api_shadow_tally(out, tally, scope);
    json_close(out, '}');
}

void api_stats_clients(struct buf *out, const struct books *books, uint16_t from, uint16_t to,
                       const struct stats_scope *scope)
{
    for (uint16_t client = from; client < to; client++)
        write_tally(out, scope->names->client_name(scope->names->context, client),
                    &books->by_client[client], scope);
}

/* Writes the tallies by type, then money and shadow of all types together. */
static void write_types(struct buf *out, const struct books *books, const struct stats_scope *scope)
{
    struct tally all = {0};
    json_member(out, "by_type");
    json_open(out, '{');
    for (size_t type = 0; type < TYPE_COUNT; type++) {
        write_tally(out, type_name((enum type)type), &books->by_type[type], scope);
        books_add(&all, &books->by_type[type]);
    }
    json_close(out, '}');
    if (scope->has_price)
        write_money(out, &all);
    api_shadow_tally(out, &all, scope);
}

/* "other" cannot be a code, because codes have no lower-case letters. */
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

/* ---- pages ------------------------------------------------------------------------------- */

static void write_date(struct buf *out, int64_t day)
{
    const time_t seconds = (time_t)(day * 86400);
    struct tm date;
    char text[16];
    gmtime_r(&seconds, &date);
    strftime(text, sizeof text, "%Y-%m-%d", &date);
    json_string(out, "date", text);
}

void api_stats_open_page(struct buf *out, const char *name, const struct stats_page *page)
{
    if (name != NULL)
        json_member(out, name);
    json_open(out, '{');
    if (page->is_day)
        write_date(out, page->day);
    write_page(out, page->stats);
    json_member(out, "by_client");
    json_open(out, '{');
}

void api_stats_close_page(struct buf *out, const struct books *books,
                          const struct unknown_errors *unknown_errors,
                          const struct stats_scope *scope)
{
    json_close(out, '}');
    write_types(out, books, scope);
    if (unknown_errors != NULL)
        write_unknown_errors(out, unknown_errors);
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
    json_string(out, "store_kind", service->store_kind);
    json_string(out, "store_server", service->store_server);
    json_bool(out, "store_async", service->store_is_async);
    json_bool(out, "callbacks", service->has_callbacks);
    json_close(out, '}');
}

void api_stats_open(struct buf *out, const struct gauges *gauges)
{
    json_open(out, '{');
    write_gauges(out, gauges);
}

void api_stats_open_days(struct buf *out)
{
    json_member(out, "days");
    json_open(out, '[');
}

void api_stats_open_budgets(struct buf *out)
{
    json_close(out, ']');
    json_member(out, "budgets");
    json_open(out, '{');
}

void api_stats_budget(struct buf *out, const char *client, const struct budget_view *budget)
{
    json_member(out, client);
    json_open(out, '{');
    json_number(out, "limit", budget->limit);
    json_number(out, "used", budget->used);
    json_number(out, "reserved", budget->reserved);
    json_number(out, "left", budget->left);
    json_close(out, '}');
}

void api_stats_close(struct buf *out, const struct stats_service *service,
                     const struct shadow_report *shadow, const struct stats_scope *scope)
{
    json_close(out, '}');
    api_shadow_report(out, shadow, scope);
    write_service(out, service);
    json_close(out, '}');
}
