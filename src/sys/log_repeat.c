#include "sys/log_repeat.h"

#include <stddef.h>
#include <string.h>

#define SECOND_MS 1000

static bool is_over(const struct log_repeat *kind, uint64_t now_ms)
{
    return now_ms - kind->since_ms >= SECOND_MS;
}

/* The entry of this event, or else the one that has been quiet for longest. */
static struct log_repeat *place_of(struct log_repeats *repeats, const char *event)
{
    struct log_repeat *oldest = &repeats->kinds[0];
    for (size_t i = 0; i < LOG_REPEATS_KINDS; i++) {
        struct log_repeat *const kind = &repeats->kinds[i];
        if (kind->event == NULL)
            return kind;
        if (kind->event == event || strcmp(kind->event, event) == 0)
            return kind;
        if (kind->since_ms < oldest->since_ms)
            oldest = kind;
    }
    return oldest;
}

bool log_repeats_allow(struct log_repeats *repeats, const char *event, uint64_t now_ms)
{
    struct log_repeat *const kind = place_of(repeats, event);
    const bool is_same = kind->event != NULL && strcmp(kind->event, event) == 0;
    if (!is_same || is_over(kind, now_ms)) {
        /* The drops of a finished second were reported before; those of an entry that is replaced
         * early are lost. */
        repeats->dropped -= kind->dropped;
        *kind = (struct log_repeat){.event = event, .since_ms = now_ms};
    }
    if (kind->passed < LOG_REPEATS_A_SECOND) {
        kind->passed++;
        return true;
    }
    kind->dropped++;
    repeats->dropped++;
    return false;
}

bool log_repeats_take(struct log_repeats *repeats, uint64_t now_ms, struct log_repeat *ended)
{
    for (size_t i = 0; repeats->dropped > 0 && i < LOG_REPEATS_KINDS; i++) {
        struct log_repeat *const kind = &repeats->kinds[i];
        if (kind->dropped == 0 || !is_over(kind, now_ms))
            continue;
        *ended = *kind;
        repeats->dropped -= kind->dropped;
        kind->dropped = 0;
        return true;
    }
    return false;
}
