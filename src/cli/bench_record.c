#include "cli/bench_record.h"

#include "cli/bench_trace.h"
#include "cli/flight_list.h"
#include "cli/progress.h"
#include "cli/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sysexits.h>

/* Flights that come and go between two looks are not seen. */
#define LOOK_EVERY_MS 500

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
    static const struct {
        const char *type, *method;
    } rows[] = {
        {"recaptcha_v2", "userrecaptcha"},
        {"recaptcha_v3", "userrecaptcha"},
        {"hcaptcha", "hcaptcha"},
        {"geetest", "geetest"},
        {"image", "base64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].type, type) == 0)
            return rows[i].method;
    return "turnstile";
}

static int compare_keys(const void *a, const void *b)
{
    const struct flight_row *const left = a;
    const struct flight_row *const right = b;
    return strcmp(left->key, right->key);
}

static void write_request(struct recording *recording, const struct flight_row *row, uint64_t at_ms)
{
    struct buf line;
    buf_init(&line, 1024);
    bench_trace_write_line(&line, at_ms * 1000, row->key, method_of(row->type));
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
        write_request(recording, row, at_ms > age_ms ? at_ms - age_ms : 0);
        seen = 1;
    }
    for (; seen < row->requests; seen++)
        write_request(recording, row, at_ms);
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

static int tell_broken(const char *file, int reason, int code)
{
    (void)fprintf(stderr, "solvegate bench: %s: cannot be written: %s\n", file, strerror(reason));
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
    if (fclose(recording.file) != 0 && recording.failed == 0)
        recording.failed = errno;
    if (recording.failed != 0)
        return tell_broken(order->record, recording.failed, EX_IOERR);
    if (code == EX_OK)
        (void)fprintf(stderr, "%" PRIu64 " requests in %s\n", recording.requests, order->record);
    return code;
}
