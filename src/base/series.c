#include "base/series.h"

#include "base/assert.h"

#include <string.h>

#define SECOND_MS 1000
#define MINUTE_SECONDS 60

void series_init(struct series *series, uint64_t now_ms)
{
    memset(series, 0, sizeof *series);
    series->started_ms = now_ms;
    series->rings[SERIES_SECOND] =
        (struct series_ring){.points = series->seconds, .pages = SERIES_SECOND_PAGES};
    series->rings[SERIES_MINUTE] =
        (struct series_ring){.points = series->minutes, .pages = SERIES_MINUTE_PAGES};
    series_mark(series, SERIES_STARTED);
}

void series_mark(struct series *series, enum series_mark mark)
{
    series->marks |= (uint8_t)(1u << mark);
}

const char *series_mark_name(enum series_mark mark)
{
    static const char *const names[SERIES_MARKS] = {
#define SERIES_AS_NAME(name, text) [SERIES_##name] = text,
        SERIES_MARK_LIST(SERIES_AS_NAME)
#undef SERIES_AS_NAME
    };
    return names[mark];
}

/* ---- the rings --------------------------------------------------------------------------- */

static uint64_t ring_room(const struct series_ring *ring)
{
    return (uint64_t)ring->pages * SERIES_PAGE;
}

/* Points between the last one and this are unknown; only those that the ring still has are written. */
static void ring_put(struct series_ring *ring, uint64_t number, const struct series_point *point)
{
    const uint64_t room = ring_room(ring);
    uint64_t gap = ring->count;
    if (number > room && gap < number - room)
        gap = number - room;
    for (; gap < number; gap++)
        ring->points[gap % room] = (struct series_point){.is_known = false};
    ring->points[number % room] = *point;
    ring->count = number + 1;
}

uint64_t series_last_page(const struct series *series, enum series_step step)
{
    const uint64_t count = series->rings[step].count;
    return count == 0 ? 0 : (count - 1) / SERIES_PAGE;
}

uint64_t series_first_page(const struct series *series, enum series_step step)
{
    const uint64_t last = series_last_page(series, step);
    const uint32_t pages = series->rings[step].pages;
    return last < pages ? 0 : last - pages + 1;
}

uint32_t series_page_points(const struct series *series, enum series_step step, uint64_t page)
{
    ASSERT(page >= series_first_page(series, step) && page <= series_last_page(series, step));
    const uint64_t count = series->rings[step].count - page * SERIES_PAGE;
    return count < SERIES_PAGE ? (uint32_t)count : SERIES_PAGE;
}

const struct series_point *series_point(const struct series *series, enum series_step step,
                                        uint64_t page, uint32_t index)
{
    ASSERT(index < series_page_points(series, step, page));
    const struct series_ring *ring = &series->rings[step];
    return &ring->points[(page * SERIES_PAGE + index) % ring_room(ring)];
}

/* ---- points ------------------------------------------------------------------------------ */

/* A counter that went back is that of a new engine, which counts from 0. */
static uint32_t added(uint64_t now, uint64_t before)
{
    const uint64_t more = now < before ? now : now - before;
    return more < UINT32_MAX ? (uint32_t)more : UINT32_MAX;
}

static void fill_percentiles(struct series_point *point, const struct histogram *now,
                             const struct histogram *before)
{
    const struct histogram solves = histogram_since(now, before);
    point->has_solves = histogram_count(&solves) > 0;
    point->solve_p50_ms = (uint32_t)histogram_percentile_ms(&solves, 50);
    point->solve_p95_ms = (uint32_t)histogram_percentile_ms(&solves, 95);
}

static struct series_point second_of(const struct series *series,
                                     const struct series_sample *sample)
{
    struct series_point point = {.is_known = true, .marks = series->marks};
    for (int i = 0; i < SERIES_COUNTS; i++)
        point.counts[i] = added(sample->counts[i], series->counts[i]);
    memcpy(point.gauges, sample->gauges, sizeof point.gauges);
    fill_percentiles(&point, sample->solves, &series->solves);
    return point;
}

/* The minute is over, also if only some of its seconds are known; if none is, a later minute fills the gap. */
static void end_minute(struct series *series)
{
    if (series->minute.is_known) {
        fill_percentiles(&series->minute, &series->solves, &series->minute_solves);
        ring_put(&series->rings[SERIES_MINUTE], series->minute_number, &series->minute);
    }
    series->minute = (struct series_point){.is_known = false};
    series->minute_solves = series->solves;
}

static void add_to_minute(struct series_point *minute, const struct series_point *second)
{
    for (int i = 0; i < SERIES_COUNTS; i++)
        minute->counts[i] = second->counts[i] < UINT32_MAX - minute->counts[i]
                                ? minute->counts[i] + second->counts[i]
                                : UINT32_MAX;
    for (int i = 0; i < SERIES_GAUGES; i++)
        if (minute->gauges[i] < second->gauges[i])
            minute->gauges[i] = second->gauges[i];
    minute->marks |= second->marks;
    minute->is_known = true;
}

static uint64_t elapsed_ms(const struct series *series, uint64_t now_ms)
{
    return now_ms < series->started_ms ? 0 : now_ms - series->started_ms;
}

void series_take(struct series *series, uint64_t now_ms, int64_t wall_ms,
                 const struct series_sample *sample)
{
    const uint64_t seconds = elapsed_ms(series, now_ms) / SECOND_MS;
    if (seconds <= series->rings[SERIES_SECOND].count)
        return;
    const uint64_t number = seconds - 1;
    const struct series_point second = second_of(series, sample);
    if (number / MINUTE_SECONDS > series->minute_number)
        end_minute(series);
    series->minute_number = number / MINUTE_SECONDS;
    memcpy(series->counts, sample->counts, sizeof series->counts);
    series->solves = *sample->solves;
    series->marks = 0;
    series->wall_ms = wall_ms - (int64_t)(elapsed_ms(series, now_ms) % SECOND_MS);
    ring_put(&series->rings[SERIES_SECOND], number, &second);
    add_to_minute(&series->minute, &second);
    if (seconds % MINUTE_SECONDS == 0)
        end_minute(series);
}

uint64_t series_left_ms(const struct series *series, uint64_t now_ms)
{
    return SECOND_MS - elapsed_ms(series, now_ms) % SECOND_MS;
}

int64_t series_ended_ms(const struct series *series, enum series_step step)
{
    const uint64_t seconds = series->rings[SERIES_SECOND].count;
    const uint64_t ended = series->rings[SERIES_MINUTE].count * MINUTE_SECONDS;
    return step == SERIES_SECOND ? series->wall_ms
                                 : series->wall_ms - (int64_t)((seconds - ended) * SECOND_MS);
}
