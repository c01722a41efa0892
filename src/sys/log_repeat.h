/* Keeps one event from flooding the log: so many a second pass, the rest are counted. */
#ifndef SOLVEGATE_SYS_LOG_REPEAT_H
#define SOLVEGATE_SYS_LOG_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_REPEATS_A_SECOND 50
/* Kinds of events watched at the same time; when there are more, the oldest gives way. */
#define LOG_REPEATS_KINDS 64

struct log_repeat {
    const char *event; /* borrowed: events are literals; NULL when the place is free */
    uint64_t since_ms; /* start of its second */
    uint32_t passed;   /* within it */
    uint64_t dropped;
};

/* All zero is a good start. */
struct log_repeats {
    struct log_repeat kinds[LOG_REPEATS_KINDS];
    uint64_t dropped; /* over all kinds: nearly always 0, so that looking for any is free */
};

/* Counts an event; false when it is to be dropped. */
bool log_repeats_allow(struct log_repeats *repeats, const char *event, uint64_t now_ms);

/* The next event whose second is over and that was dropped meanwhile; false when there is none. */
bool log_repeats_take(struct log_repeats *repeats, uint64_t now_ms, struct log_repeat *ended);

#endif
