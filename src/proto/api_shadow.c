#include "proto/api_shadow.h"

#include "proto/api_money.h"
#include "proto/json_out.h"

#include <solvegate/words.h>

/* ---- pages, clients and types ------------------------------------------------------------ */

static uint64_t less(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

static void write_money(struct buf *out, const struct tally *tally)
{
    const uint64_t saved =
        tally->shadow_wait_micro + tally->shadow_cache_micro + tally->shadow_idempotent_micro;
    json_money(out, "money_spent", tally->shadow_spent_micro);
    json_money(out, "money_saved", less(saved, tally->shadow_retried_micro));
    json_member(out, "money_saved_by");
    json_open(out, '{');
    json_money(out, "dedup_wait", tally->shadow_wait_micro);
    json_money(out, "dedup_cache", tally->shadow_cache_micro);
    json_money(out, "idempotent", tally->shadow_idempotent_micro);
    json_close(out, '}');
    json_money(out, "money_retried", tally->shadow_retried_micro);
}

void api_shadow_tally(struct buf *out, const struct tally *tally, const struct stats_scope *scope)
{
    const uint64_t spared = tally->shadow_wait + tally->shadow_cache + tally->shadow_idempotent;
    const uint64_t duplicates = less(spared, tally->shadow_retried);
    if (tally->shadow_paid == 0)
        return;
    json_member(out, "shadow");
    json_open(out, '{');
    json_number(out, "paid", tally->shadow_paid);
    json_number(out, "duplicates", duplicates);
    json_percent(out, "duplicates_pct", duplicates, tally->shadow_paid);
    json_number(out, "dedup_wait", tally->shadow_wait);
    json_number(out, "dedup_cache", tally->shadow_cache);
    json_number(out, "idempotent", tally->shadow_idempotent);
    json_number(out, "retried", tally->shadow_retried);
    if (scope->has_price)
        write_money(out, tally);
    json_close(out, '}');
}

/* ---- the whole --------------------------------------------------------------------------- */

static void write_clients(struct buf *out, const struct shadow_report *report,
                          const struct stats_scope *scope)
{
    json_member(out, "clients");
    json_open(out, '[');
    for (client_id client = 0; client < scope->client_count; client++) {
        if (!report->is_shadow(report->context, client))
            continue;
        json_item(out);
        (void)json_add_string(out,
                              slice_from(scope->names->client_name(scope->names->context, client)));
    }
    json_close(out, ']');
}

static void write_day(struct buf *out, const struct shadow_hour *day,
                      const struct stats_scope *scope)
{
    json_member(out, "last_24_hours");
    json_open(out, '{');
    json_number(out, "paid", day->paid);
    json_number(out, "duplicates", day->duplicates);
    json_percent(out, "duplicates_pct", day->duplicates, day->paid);
    if (scope->has_price)
        json_money(out, "money_saved", day->saved_micro);
    json_close(out, '}');
}

static void write_host(struct buf *out, struct slice host)
{
    if (slice_is_given(host))
        json_text(out, "host", host);
    else
        json_null(out, "host");
}

static void write_repeat(struct buf *out, const struct repeat_view *repeat,
                         const struct stats_scope *scope)
{
    json_open(out, '{');
    json_hex(out, "key", repeat->key.bytes, KEY_BYTES);
    write_host(out, repeat->host);
    json_string(out, "type", type_name(repeat->type));
    json_string(out, "client", scope->names->client_name(scope->names->context, repeat->client));
    json_number(out, "duplicates", repeat->times);
    json_number(out, "at_least", repeat->times - repeat->uncertain);
    if (scope->has_price)
        json_money(out, "money_saved", repeat->saved_micro);
    json_close(out, '}');
}

static void write_opinions(struct buf *out, const char *name, uint64_t good, uint64_t bad)
{
    json_member(out, name);
    json_open(out, '{');
    json_number(out, "good", good);
    json_number(out, "bad", bad);
    json_close(out, '}');
}

static void write_target(struct buf *out, const struct target_view *target)
{
    json_open(out, '{');
    write_host(out, target->host);
    json_string(out, "type", type_name(target->type));
    write_opinions(out, "own", target->own_good, target->own_bad);
    write_opinions(out, "shared", target->shared_good, target->shared_bad);
    if (target->advice == REUSE_DEFAULT)
        json_null(out, "advice");
    else
        json_string(out, "advice", reuse_name(target->advice));
    json_close(out, '}');
}

void api_shadow_report(struct buf *out, const struct shadow_report *report,
                       const struct stats_scope *scope)
{
    json_member(out, "shadow");
    json_open(out, '{');
    write_clients(out, report, scope);
    write_day(out, &report->day, scope);
    json_member(out, "repeats");
    json_open(out, '[');
    for (size_t i = 0; i < report->repeat_count; i++)
        write_repeat(out, &report->repeats[i], scope);
    json_close(out, ']');
    json_member(out, "targets");
    json_open(out, '[');
    for (size_t i = 0; i < report->target_count; i++)
        write_target(out, &report->targets[i]);
    json_close(out, ']');
    json_close(out, '}');
}
