#include "store/store_clock.h"

/* Small enough not to count as a leap at the next start, large enough to be written rarely. */
#define DRIFT_MS 100

static int64_t mark_wall_ms(const struct store_mark *mark, const struct clocks *now)
{
    return mark->wall_ms + now->even_ms - mark->even_ms;
}

static bool has_drifted(const struct store_mark *mark, const struct clocks *now)
{
    const int64_t drift_ms = now->wall_ms - mark_wall_ms(mark, now);
    return drift_ms > DRIFT_MS || drift_ms < -DRIFT_MS;
}

static int64_t leap_ms(const struct store_mark *mark, const struct clocks *now)
{
    const struct clocks before = {.wall_ms = mark->wall_ms, .even_ms = mark->even_ms};
    return row_time_bounded(clocks_leap_ms(&before, now));
}

enum store_result store_clock_catch_up(struct store_backend *backend, const struct clocks *now)
{
    struct store_mark mark = {.is_set = false};
    enum store_result result = backend->driver->read_mark(backend, &mark);
    const bool is_same_boot =
        mark.is_set && now->boot[0] != '\0' && strcmp(mark.boot, now->boot) == 0;
    if (result == STORE_DONE && !(is_same_boot && !has_drifted(&mark, now))) {
        const struct store_shift shift = {.by_ms = is_same_boot ? leap_ms(&mark, now) : 0,
                                          .now = *now};
        result = backend->driver->shift(backend, &shift);
    }
    /* On a full disk the rows keep their times, and the next start tries again. */
    return result == STORE_NO_ROOM ? STORE_DONE : result;
}

enum store_result store_clock_read(struct store_backend *backend, int64_t *wall_ms)
{
    struct store_mark mark;
    const struct clocks now = clocks_read();
    const enum store_result result = backend->driver->read_mark(backend, &mark);
    if (result != STORE_DONE || !mark.is_set) {
        *wall_ms = now.wall_ms;
        return result;
    }
    *wall_ms = mark_wall_ms(&mark, &now);
    /* The loop reports leaps itself, in order with the records. */
    if (!has_drifted(&mark, &now) || leap_ms(&mark, &now) != 0)
        return STORE_DONE;
    const struct store_shift adjustment = {.by_ms = 0, .now = now};
    return backend->driver->shift(backend, &adjustment);
}

bool store_clock_is_at(const struct store_mark *mark, const struct clocks *clocks)
{
    return mark->is_set && mark->even_ms == clocks->even_ms && mark->wall_ms == clocks->wall_ms &&
           strcmp(mark->boot, clocks->boot) == 0;
}

enum store_result store_clock_follow(struct store_backend *backend)
{
    const struct store_sharing *const sharing = backend->driver->sharing;
    const int64_t sent_ms = clocks_read().even_ms;
    int64_t wall_ms = 0;
    if (sharing->read_time == NULL)
        return STORE_DONE;
    const enum store_result result = sharing->read_time(backend, &wall_ms);
    if (result == STORE_DONE)
        clocks_follow(wall_ms, sent_ms);
    return result;
}
