#include "engine/shadow_books.h"
#include "engine/aside.h"

#include <solvegate/findings.h>

#define HOUR_MS 3600000
#define DAY_MS 86400000

static unsigned hour_of(const struct engine *engine)
{
    return (unsigned)(engine->wall_ms % DAY_MS / HOUR_MS);
}

static struct shadow_hour *this_hour(struct engine *engine)
{
    return &engine->days[0].hours[hour_of(engine)];
}

static uint64_t price_of(const struct engine *engine, const struct flight *flight)
{
    return engine->options.price_micro[flight->type];
}

void shadow_books_paid(struct engine *engine, const struct flight *flight)
{
    COUNT(engine, shadow_paid);
    TALLY(engine, flight, shadow_paid);
    TALLY_BY(engine, flight->client, flight->type, shadow_spent_micro, price_of(engine, flight));
    this_hour(engine)->paid++;
}

static void count_source(struct engine *engine, const struct flight *flight, uint64_t price)
{
    switch (flight->aside->seat.source) {
    case SOURCE_DEDUP_WAIT:
        COUNT(engine, shadow_dedup_wait);
        TALLY(engine, flight, shadow_wait);
        TALLY_BY(engine, flight->client, flight->type, shadow_wait_micro, price);
        return;
    case SOURCE_DEDUP_CACHE:
        COUNT(engine, shadow_dedup_cache);
        TALLY(engine, flight, shadow_cache);
        TALLY_BY(engine, flight->client, flight->type, shadow_cache_micro, price);
        return;
    case SOURCE_IDEMPOTENT:
        COUNT(engine, shadow_idempotent);
        TALLY(engine, flight, shadow_idempotent);
        TALLY_BY(engine, flight->client, flight->type, shadow_idempotent_micro, price);
        return;
    case SOURCE_API:
    case SOURCE_POOL:
    case SOURCE_COUNT:
        break;
    }
    UNREACHABLE();
}

void shadow_books_duplicate(struct engine *engine, const struct flight *flight)
{
    const uint64_t price = price_of(engine, flight);
    count_source(engine, flight, price);
    this_hour(engine)->duplicates++;
    this_hour(engine)->saved_micro += price;
}

/* The hour that counted the duplicate may be over; then the current one makes up for it as far as
 * it can. */
static void take_back(uint64_t *counter, uint64_t amount)
{
    *counter -= amount < *counter ? amount : *counter;
}

void shadow_books_retried(struct engine *engine, const struct flight *flight)
{
    const uint64_t price = price_of(engine, flight);
    COUNT(engine, shadow_retried);
    TALLY(engine, flight, shadow_retried);
    TALLY_BY(engine, flight->client, flight->type, shadow_retried_micro, price);
    take_back(&this_hour(engine)->duplicates, 1);
    take_back(&this_hour(engine)->saved_micro, price);
}

struct blob *shadow_books_pack(const struct day *day)
{
    if (day->stats.shadow_paid == 0)
        return NULL;
    return blob_new((struct slice){.data = (const char *)day->hours, .len = sizeof day->hours});
}

void shadow_books_restore(struct day *day, const struct blob *hours)
{
    if (hours != NULL && hours->len == sizeof day->hours)
        memcpy(day->hours, hours->data, sizeof day->hours);
}

static const struct shadow_hour *find_hour(const struct engine *engine, int64_t hour)
{
    for (unsigned ago = 0; ago <= 1; ago++)
        if (engine->days[ago].number == hour / SHADOW_HOURS)
            return &engine->days[ago].hours[hour % SHADOW_HOURS];
    return NULL;
}

struct shadow_hour engine_shadow_day(const struct engine *engine, int64_t wall_ms)
{
    struct shadow_hour sum = {0};
    for (int64_t ago = 0; ago < SHADOW_HOURS; ago++) {
        const struct shadow_hour *hour = find_hour(engine, wall_ms / HOUR_MS - ago);
        if (hour == NULL)
            continue;
        sum.paid += hour->paid;
        sum.duplicates += hour->duplicates;
        sum.saved_micro += hour->saved_micro;
    }
    return sum;
}
