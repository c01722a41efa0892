#include "engine/history.h"

#include <stdlib.h>

static void note_close(struct attempt_note *note)
{
    blob_unref(note->code);
    blob_unref(note->task_id);
}

static struct attempt_note *next_note(struct history *history)
{
    if (history->count == HISTORY_MAX) {
        note_close(&history->notes[0]);
        memmove(&history->notes[0], &history->notes[1],
                (HISTORY_MAX - 1) * sizeof history->notes[0]);
        history->count--;
    }
    return &history->notes[history->count++];
}

static struct history *history_new(void)
{
    struct history *history = calloc(1, sizeof *history);
    ASSERT(history != NULL);
    return history;
}

void history_add(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code)
{
    const struct attempt *attempt = flight->attempt;
    if (flight->history == NULL)
        flight->history = history_new();
    const uint64_t took_ms = engine->now_ms - attempt->started_ms;
    *next_note(flight->history) = (struct attempt_note){
        .wall_ms = engine->wall_ms - (int64_t)took_ms,
        .took_ms = took_ms < UINT32_MAX ? (uint32_t)took_ms : UINT32_MAX,
        .class = class,
        .code = blob_new(code),
        .task_id = blob_ref(attempt->task_id),
    };
}

void history_earlier(struct engine *engine, struct flight *flight, const struct attempt *attempt)
{
    const uint64_t ago_ms = engine->now_ms - attempt->started_ms;
    const uint64_t window_ms = engine->options.ambiguity_window_ms;
    if (flight->history == NULL)
        flight->history = history_new();
    *next_note(flight->history) = (struct attempt_note){
        .wall_ms = engine->wall_ms - (int64_t)ago_ms,
        .took_ms = (uint32_t)(ago_ms < window_ms ? ago_ms : window_ms),
        .class = CLASS_AMBIGUOUS,
        .code = blob_new(CODE_AMBIGUOUS_SUBMIT),
        .task_id = blob_ref(attempt->task_id),
    };
}

void history_reason(struct engine *engine, struct flight *flight)
{
    const struct attempt *attempt = flight->attempt;
    struct blob *code = attempt == NULL ? flight->error : attempt->cause;
    if (code == NULL || flight->history != NULL)
        return;
    /* The attempt's start is not recorded; it was at the latest when the next one started. */
    const uint64_t until_ms = attempt == NULL ? flight->created_ms : attempt->started_ms;
    flight->history = history_new();
    *next_note(flight->history) = (struct attempt_note){
        .wall_ms = engine->wall_ms - (int64_t)(engine->now_ms - until_ms),
        .class = attempt == NULL ? flight->error_class : attempt->cause_class,
        .code = blob_ref(code),
    };
}

void history_note(struct engine *engine, struct history **history, uint64_t started_ms,
                  struct slice code)
{
    if (*history == NULL)
        *history = history_new();
    const uint64_t took_ms = engine->now_ms - started_ms;
    *next_note(*history) = (struct attempt_note){
        .wall_ms = engine->wall_ms - (int64_t)took_ms,
        .took_ms = took_ms < UINT32_MAX ? (uint32_t)took_ms : UINT32_MAX,
        .class = CLASS_TRANSIENT,
        .code = blob_new(code),
    };
}

void history_join(struct history **earlier, const struct history *later)
{
    if (later == NULL)
        return;
    if (*earlier == NULL)
        *earlier = history_new();
    for (size_t i = 0; i < later->count; i++) {
        struct attempt_note *note = next_note(*earlier);
        *note = later->notes[i];
        note->code = blob_ref(note->code);
        note->task_id = blob_ref(note->task_id);
    }
}

void history_copy(const struct history *history, struct attempt_note **notes, size_t *count)
{
    if (history == NULL || history->count == 0)
        return;
    *notes = calloc(history->count, sizeof **notes);
    ASSERT(*notes != NULL);
    *count = history->count;
    for (size_t i = 0; i < history->count; i++) {
        (*notes)[i] = history->notes[i];
        (void)blob_ref(history->notes[i].code);
        (void)blob_ref(history->notes[i].task_id);
    }
}

struct history *history_restore(const struct attempt_note *notes, size_t count)
{
    if (count == 0)
        return NULL;
    struct history *history = history_new();
    for (size_t i = 0; i < count; i++) {
        struct attempt_note *note = next_note(history);
        *note = notes[i];
        (void)blob_ref(note->code);
        (void)blob_ref(note->task_id);
    }
    return history;
}

void history_free(struct history *history)
{
    if (history == NULL)
        return;
    for (size_t i = 0; i < history->count; i++)
        note_close(&history->notes[i]);
    free(history);
}
