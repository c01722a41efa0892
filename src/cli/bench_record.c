#include "cli/bench_record.h"

#include "cli/bench_log.h"
#include "cli/bench_trace.h"
#include "cli/flight_list.h"
#include "cli/progress.h"
#include "cli/term.h"

#include <errno.h>
#include <inttypes.h>
#include <solvegate/types.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>

/* Flights that come and go between two looks are not seen. */
#define LOOK_EVERY_MS 500
/* The gateway's lines have at most 4096 bytes; another 4096 are for what a log's keeper writes before them. */
#define LOG_LINE_BYTES 8192

struct recording {
    FILE *file;
    struct flight_list before; /* of the look before, by key */
    uint64_t started_ms;
    uint64_t requests;
    int failed; /* errno of a write */
};

/* What is sent again is made up, so a method of the same type is enough. */
static const char *method_of(const char *type)
{
    static const char *const methods[TYPE_COUNT] = {
        [TYPE_RECAPTCHA_V2] = "userrecaptcha",
        [TYPE_RECAPTCHA_V3] = "userrecaptcha",
        [TYPE_HCAPTCHA] = "hcaptcha",
        [TYPE_TURNSTILE] = "turnstile",
        [TYPE_IMAGE] = "base64",
        [TYPE_GEETEST] = "geetest",
        [TYPE_CLOUDFLARE] = "cloudflare_challenge",
        [TYPE_OTHER] = "friendly_captcha",
    };
#define NAME_OF(name, text) text,
    static const char *const names[TYPE_COUNT] = {TYPE_LIST(NAME_OF)};
#undef NAME_OF
    _Static_assert(TYPE_OTHER + 1 == TYPE_COUNT, "what is not found is of the last type");
    enum type at = 0;
    while (at < TYPE_OTHER && strcmp(names[at], type) != 0)
        at++;
    return methods[at];
}

static int compare_keys(const void *a, const void *b)
{
    const struct flight_row *const left = a;
    const struct flight_row *const right = b;
    return strcmp(left->key, right->key);
}

static void write_request(struct recording *recording, const char *key, const char *type,
                          uint64_t at_ms)
{
    struct buf line;
    buf_init(&line, 1024);
    bench_trace_write_line(&line, at_ms * 1000, key, method_of(type));
    if (recording->failed == 0 && fwrite(line.data, 1, line.len, recording->file) != line.len)
        recording->failed = errno;
    buf_close(&line);
    recording->requests++;
}

/* A new flight was asked for when it began; whoever joined since the last look is taken to have come now. */
static void record_flight(struct recording *recording, const struct flight_row *row, uint64_t at_ms)
{
    const struct flight_row *const known =
        recording->before.count == 0 ? NULL
                                     : bsearch(row, recording->before.rows, recording->before.count,
                                               sizeof recording->before.rows[0], compare_keys);
    const uint64_t age_ms = row->age > 0 ? (uint64_t)(row->age * 1000) : 0;
    uint64_t seen = known == NULL ? 0 : known->requests;
    if (known == NULL && row->requests > 0) {
        write_request(recording, row->key, row->type, at_ms > age_ms ? at_ms - age_ms : 0);
        seen = 1;
    }
    for (; seen < row->requests; seen++)
        write_request(recording, row->key, row->type, at_ms);
}

/* Takes the list of this look; that of the one before is freed. */
static void record_look(struct recording *recording, struct flight_list *take_list)
{
    const uint64_t at_ms = progress_now_ms() - recording->started_ms;
    for (size_t i = 0; i < take_list->count; i++)
        record_flight(recording, &take_list->rows[i], at_ms);
    if (take_list->count > 0)
        qsort(take_list->rows, take_list->count, sizeof take_list->rows[0], compare_keys);
    if (recording->failed == 0 && fflush(recording->file) != 0)
        recording->failed = errno;
    flight_list_close(&recording->before);
    recording->before = *take_list;
}

static int watch(const struct command *command, struct bench_order *order,
                 struct recording *recording)
{
    struct remote_reply reply;
    struct progress progress;
    int code = EX_OK;
    remote_reply_init(&reply);
    progress_start(&progress, "recording");
    while (code == EX_OK && recording->failed == 0 && term_signal() == 0 &&
           progress_now_ms() - recording->started_ms < order->plan.duration_ms) {
        struct flight_list list = {.count = 0};
        const enum remote_end end =
            flight_list_fetch(&list, &order->remote, &reply, FLIGHT_LIST_MAX);
        code = remote_tell(command, &order->remote, end, &reply);
        if (code == EX_OK && !list.is_read)
            code = remote_tell_not_json(command);
        record_look(recording, &list);
        progress_tick(&progress);
        if (code == EX_OK)
            (void)term_wait(LOOK_EVERY_MS);
    }
    progress_stop(&progress);
    buf_close(&reply.body);
    return code;
}

/* ---- from a log -------------------------------------------------------------------------- */

struct reading {
    struct recording *recording;
    uint64_t last_ms; /* of the request before, by the log's clock */
    uint64_t at_ms;   /* since the first request */
    uint64_t lost;    /* lines that the gateway could not write */
};

/* Where the log's clock was set back, no time has passed. */
static void take_log_line(struct reading *reading, struct slice text)
{
    struct bench_log_line line;
    switch (bench_log_read(text, &line)) {
    case BENCH_LOG_OTHER:
        return;
    case BENCH_LOG_LOST:
        reading->lost += line.lost;
        return;
    case BENCH_LOG_REQUEST:
        break;
    }
    if (reading->recording->requests > 0 && line.at_ms > reading->last_ms)
        reading->at_ms += line.at_ms - reading->last_ms;
    reading->last_ms = line.at_ms;
    write_request(reading->recording, line.key, line.type, reading->at_ms);
}

/* Reads a line, without its end, and of one that is too long to be the gateway's only the beginning; false at the end.
 * Not fgets: a log may have zeros in it, where the machine lost power. */
static bool read_log_line(FILE *log, char text[LOG_LINE_BYTES], struct slice *line)
{
    int read = getc(log);
    *line = (struct slice){.data = text, .len = 0};
    if (read == EOF)
        return false;
    for (; read != EOF && read != '\n'; read = getc(log))
        if (line->len < LOG_LINE_BYTES)
            text[line->len++] = (char)read;
    return true;
}

/* Reads to the end; that of a pipe may be a signal. Returns 0 or an errno. */
static int read_log(FILE *log, struct reading *reading)
{
    char text[LOG_LINE_BYTES];
    struct slice line;
    const struct recording *const recording = reading->recording;
    while (recording->failed == 0 && recording->requests < BENCH_TRACE_MAX && term_signal() == 0 &&
           read_log_line(log, text, &line))
        take_log_line(reading, line);
    return ferror(log) != 0 && term_signal() == 0 ? errno : 0;
}

static int tell_reading(const struct bench_order *order, const struct reading *reading)
{
    const uint64_t requests = reading->recording->requests;
    if (requests == 0) {
        (void)fprintf(
            stderr,
            "solvegate bench: %s has no request: the gateway logs them at log.level debug, "
            "and log.format key_value or json\n",
            order->from_log);
        return EX_DATAERR;
    }
    if (requests == BENCH_TRACE_MAX)
        (void)fprintf(stderr, "a trace has at most a million requests: what follows is left out\n");
    if (reading->lost > 0)
        (void)fprintf(stderr,
                      "%" PRIu64 " lines of the log were lost, and requests may be among them: "
                      "stderr was read too slowly\n",
                      reading->lost);
    return EX_OK;
}

/* Whoever names one file twice would lose the log. */
static bool is_same_file(FILE *log, const char *record)
{
    struct stat of_log;
    struct stat of_record;
    return stat(record, &of_record) == 0 && fstat(fileno(log), &of_log) == 0 &&
           S_ISREG(of_log.st_mode) && of_log.st_dev == of_record.st_dev &&
           of_log.st_ino == of_record.st_ino;
}

/* ---- the whole --------------------------------------------------------------------------- */

static int tell_broken(const char *file, int reason, int code)
{
    (void)fprintf(stderr, "solvegate bench: %s: cannot be written: %s\n", file, strerror(reason));
    return code;
}

static int tell_unreadable(const char *file, int reason)
{
    (void)fprintf(stderr, "solvegate bench: %s: cannot be read: %s\n", file, strerror(reason));
    return EX_NOINPUT;
}

/* Closes the trace and says how the recording ended. */
static int conclude(const struct bench_order *order, struct recording *recording, int code)
{
    if (fclose(recording->file) != 0 && recording->failed == 0)
        recording->failed = errno;
    if (recording->failed != 0)
        return tell_broken(order->record, recording->failed, EX_IOERR);
    if (code == EX_OK)
        (void)fprintf(stderr, "%" PRIu64 " requests in %s\n", recording->requests, order->record);
    return code;
}

int bench_record(const struct command *command, struct bench_order *order)
{
    struct recording recording = {.file = fopen(order->record, "we")};
    if (recording.file == NULL)
        return tell_broken(order->record, errno, EX_CANTCREAT);
    term_catch_signals();
    recording.started_ms = progress_now_ms();
    const int code = watch(command, order, &recording);
    flight_list_close(&recording.before);
    return conclude(order, &recording, code);
}

static int record_log(const struct bench_order *order, FILE *log)
{
    struct recording recording = {.file = NULL};
    struct reading reading = {.recording = &recording};
    if (is_same_file(log, order->record)) {
        (void)fprintf(stderr, "solvegate bench: --record: %s is the log itself\n", order->record);
        return EX_USAGE;
    }
    recording.file = fopen(order->record, "we");
    if (recording.file == NULL)
        return tell_broken(order->record, errno, EX_CANTCREAT);
    (void)setvbuf(recording.file, NULL, _IOLBF, BUFSIZ); /* the log may be written for days */
    term_catch_signals();
    const int failed = read_log(log, &reading);
    const int code =
        failed == 0 ? tell_reading(order, &reading) : tell_unreadable(order->from_log, failed);
    return conclude(order, &recording, code);
}

int bench_record_log(const struct bench_order *order)
{
    const bool is_standard = strcmp(order->from_log, "-") == 0;
    FILE *const log = is_standard ? stdin : fopen(order->from_log, "re");
    if (log == NULL)
        return tell_unreadable(order->from_log, errno);
    const int code = record_log(order, log);
    if (!is_standard)
        (void)fclose(log);
    return code;
}
