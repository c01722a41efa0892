/* Log lines: one event a line, fixed names, key=value or JSON, never a key, token, nonce or body. */
#ifndef SOLVEGATE_SYS_LOG_H
#define SOLVEGATE_SYS_LOG_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_TEXT, LOG_FORMAT_KEY_VALUE, LOG_FORMAT_JSON };

/* AUTO: coloured text on a terminal (unless NO_COLOR), key=value elsewhere. Lines go to stderr. */
void log_init(enum log_level level, enum log_format format);
bool log_is_on(enum log_level level);

/* One field of a line; the helpers below make it. */
struct log_field {
    const char *name;
    enum { LOG_TEXT_VALUE, LOG_NUMBER_VALUE } kind;
    struct slice text;
    int64_t number;
};

struct log_field log_text(const char *name, struct slice value);
struct log_field log_string(const char *name, const char *value);
struct log_field log_number(const char *name, int64_t value);

/* event is a fixed word ("listener_ready"); fields are escaped and capped, so that one event is one
 * line whatever the fields contain. More than 50 events of one name in a second are counted and
 * summed up. */
void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

/* The same, but never dropped as a repeat: for lines that somebody counts. */
void log_each(enum log_level level, const char *event, const struct log_field *fields,
              size_t count);

/* Logs the remaining counts of repeats; call it before the process ends. */
void log_close(void);

#define LOG(level, event, ...)                                           \
    log_event((level), (event), (const struct log_field[]){__VA_ARGS__}, \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

#endif
