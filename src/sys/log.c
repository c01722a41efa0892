#include "sys/log.h"

#include "base/assert.h"
#include "sys/log_escape.h"
#include "sys/log_repeat.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A writable pipe takes this many bytes at once, without blocking (PIPE_BUF of Linux). */
#define LINE_BYTES 4096
/* Reserved for the end of a line: `,"is_cut":true}` and the newline. */
#define TAIL_BYTES 32
/* Limit of one value, before escaping. */
#define VALUE_BYTES 512

struct line {
    char data[LINE_BYTES];
    size_t len;
    bool is_cut; /* a field did not fit and was left out */
};

static struct {
    enum log_level level;
    enum log_format format; /* never AUTO after log_init */
    bool is_coloured;
    uint64_t lost; /* lines that the reader was too slow for */
    struct log_repeats repeats;
} state = {.level = LOG_LEVEL_INFO, .format = LOG_FORMAT_KEY_VALUE};

void log_init(enum log_level level, enum log_format format)
{
    const bool is_terminal = isatty(STDERR_FILENO) == 1;
    const char *const no_color = getenv("NO_COLOR");
    if (format == LOG_FORMAT_AUTO)
        format = is_terminal ? LOG_FORMAT_TEXT : LOG_FORMAT_KEY_VALUE;
    state.level = level;
    state.format = format;
    state.is_coloured = is_terminal && (no_color == NULL || *no_color == '\0');
}

bool log_is_on(enum log_level level)
{
    return level >= state.level;
}

struct log_field log_text(const char *name, struct slice value)
{
    return (struct log_field){.name = name, .kind = LOG_TEXT_VALUE, .text = value};
}

struct log_field log_string(const char *name, const char *value)
{
    return log_text(name, slice_from(value));
}

struct log_field log_number(const char *name, int64_t value)
{
    return (struct log_field){.name = name, .kind = LOG_NUMBER_VALUE, .number = value};
}

/* ---- composing ------------------------------------------------------------------------------ */

/* Text that does not fit marks the line as cut; the caller then removes the whole field. */
static void add(struct line *line, const char *data, size_t len)
{
    if (line->is_cut || len > LINE_BYTES - TAIL_BYTES - line->len) {
        line->is_cut = true;
        return;
    }
    memcpy(line->data + line->len, data, len);
    line->len += len;
}

static void add_string(struct line *line, const char *text)
{
    add(line, text, strlen(text));
}

static void add_quoted(struct line *line, struct slice text)
{
    const bool is_long = text.len > VALUE_BYTES;
    add_string(line, "\"");
    for (size_t at = 0; at < text.len && at < VALUE_BYTES;) {
        char piece[LOG_ESCAPE_MAX];
        const size_t len = log_escape_next(text, &at, piece);
        add(line, piece, len);
    }
    add_string(line, is_long ? "...\"" : "\"");
}

static void add_value(struct line *line, const struct log_field *field)
{
    char number[24];
    switch (field->kind) {
    case LOG_TEXT_VALUE:
        if (!slice_is_given(field->text))
            add_string(line, "null");
        else if (state.format != LOG_FORMAT_JSON && field->text.len <= VALUE_BYTES &&
                 log_is_bare(field->text))
            add(line, field->text.data, field->text.len);
        else
            add_quoted(line, field->text);
        return;
    case LOG_NUMBER_VALUE:
        (void)snprintf(number, sizeof number, "%lld", (long long)field->number);
        add_string(line, number);
        return;
    }
    UNREACHABLE();
}

static void add_field(struct line *line, const struct log_field *field)
{
    const bool was_cut = line->is_cut;
    const size_t before = line->len;
    line->is_cut = false;
    add_string(line, state.format == LOG_FORMAT_JSON ? ",\"" : " ");
    add_string(line, field->name);
    add_string(line, state.format == LOG_FORMAT_JSON ? "\":" : "=");
    add_value(line, field);
    if (line->is_cut)
        line->len = before;
    line->is_cut = line->is_cut || was_cut;
}

/* "2026-01-31T23:59:59.123Z". */
static void write_time(char *out, size_t room)
{
    struct timespec now;
    struct tm utc;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) == NULL)
        utc = (struct tm){.tm_year = 70, .tm_mday = 1};
    const size_t len = strftime(out, room, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out + len, room - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static const char *level_name(enum log_level level)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    return names[level];
}

static const char *level_colour(enum log_level level)
{
    static const char *const colours[] = {"\033[2m", "\033[32m", "\033[33m", "\033[31m"};
    return colours[level];
}

static void begin_line(struct line *line, enum log_level level, const char *event)
{
    char when[64], head[256];
    write_time(when, sizeof when);
    line->len = 0;
    line->is_cut = false;
    if (state.format == LOG_FORMAT_JSON)
        (void)snprintf(head, sizeof head, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"",
                       when, level_name(level), event);
    else if (state.format == LOG_FORMAT_KEY_VALUE)
        (void)snprintf(head, sizeof head, "time=%s level=%s event=%s", when, level_name(level),
                       event);
    else
        (void)snprintf(head, sizeof head, "%.12s %s%-5s%s %s", when + 11,
                       state.is_coloured ? level_colour(level) : "", level_name(level),
                       state.is_coloured ? "\033[0m" : "", event);
    add_string(line, head);
}

static void end_line(struct line *line)
{
    const bool is_json = state.format == LOG_FORMAT_JSON;
    const char *const cut = !line->is_cut ? "" : is_json ? ",\"is_cut\":true" : " is_cut=true";
    const int len = snprintf(line->data + line->len, TAIL_BYTES, "%s%s\n", cut, is_json ? "}" : "");
    line->len += (size_t)len;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Never waits for a slow reader, since the loop has callers to serve. Lines that cannot be written
 * are counted. */
static bool write_line(const struct line *line)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0)
        return false;
    ssize_t written;
    do
        written = write(STDERR_FILENO, line->data, line->len);
    while (written < 0 && errno == EINTR);
    return written == (ssize_t)line->len;
}

static void emit(enum log_level level, const char *event, const struct log_field *fields,
                 size_t count)
{
    struct line line;
    begin_line(&line, level, event);
    for (size_t i = 0; i < count; i++)
        add_field(&line, &fields[i]);
    end_line(&line);
    if (!write_line(&line))
        state.lost++;
}

static void tell_lost(void)
{
    if (state.lost == 0)
        return;
    const uint64_t lost = state.lost;
    state.lost = 0;
    const struct log_field field = log_number("count", (int64_t)lost);
    emit(LOG_LEVEL_WARN, "log_lines_lost", &field, 1);
    /* The reader is still slow: keeps the old count, without this message itself. */
    if (state.lost > 0)
        state.lost = lost;
}

static void tell_repeats(uint64_t now_ms)
{
    struct log_repeat ended;
    while (log_repeats_take(&state.repeats, now_ms, &ended)) {
        const struct log_field fields[] = {log_string("repeated", ended.event),
                                           log_number("count", (int64_t)ended.dropped)};
        emit(LOG_LEVEL_WARN, "log_repeats", fields, 2);
    }
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    if (!log_is_on(level))
        return;
    const int saved = errno; /* logging an error must not change it */
    const uint64_t now_ms = monotonic_ms();
    tell_repeats(now_ms);
    if (log_repeats_allow(&state.repeats, event, now_ms)) {
        tell_lost();
        emit(level, event, fields, count);
    }
    errno = saved;
}

void log_each(enum log_level level, const char *event, const struct log_field *fields, size_t count)
{
    if (!log_is_on(level))
        return;
    const int saved = errno;
    tell_lost();
    emit(level, event, fields, count);
    errno = saved;
}

void log_close(void)
{
    tell_repeats(UINT64_MAX);
    tell_lost();
}
