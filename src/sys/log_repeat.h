/* Keeps one event from flooding the log: a limited number per second pass, the rest are counted. */
#ifndef SOLVEGATE_SYS_LOG_REPEAT_H
#define SOLVEGATE_SYS_LOG_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_REPEATS_A_SECOND 50
/* Events tracked at the same time; if there are more, the oldest entry is replaced. */
#define LOG_REPEATS_KINDS 64

struct log_repeat {
    const char *event; /* borrowed: a literal; NULL if the entry is free */
    uint64_t since_ms; /* start of its second */
    uint32_t passed;   /* in that second */
    uint64_t dropped;
};

/* Initialise with zeros. */
struct log_repeats {
    struct log_repeat kinds[LOG_REPEATS_KINDS];
    uint64_t dropped; /* over all events: nearly always 0, so that checking for any is cheap */
};

/* Counts an event; false if it must be dropped. */
bool log_repeats_allow(struct log_repeats *repeats, const char *event, uint64_t now_ms);

/* Takes the next event with drops in a finished second; false if there is none. */
bool log_repeats_take(struct log_repeats *repeats, uint64_t now_ms, struct log_repeat *ended);

#endif
