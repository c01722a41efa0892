/* Callers' own addresses: they hear, refuse, hear without our knowing, and are told at least once what is durable. */
#include "sim.h"
#include "watched.h"

#include <stdlib.h>

struct notice_note *notice_of(const struct sim *sim, request_id id)
{
    const uint32_t place = map_get(&sim->note_by_id, id);
    return place == MAP_NONE ? NULL : &sim->notes[place];
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* The request's first row is written while its caller asks. */
static void note_new(struct sim *sim, request_id id)
{
    CHECK(sim, sim->asking != MAP_NONE && sim->callers[sim->asking].has_pingback);
    const struct caller *caller = &sim->callers[sim->asking];
    const struct need *need = &sim->needs[caller->need];
    sim->notes = array_grow(sim->notes, sim->note_count, &sim->note_room, sizeof *sim->notes);
    sim->notes[sim->note_count] = (struct notice_note){
        .id = id,
        .asked_ms = caller->since_ms,
        .idempotency = watched_idempotency(sim, need),
        .key = need->is_mutated ? need->other_key : need->key,
        .reuse = watched_reuse(sim, need),
        .client = need->client,
        .token = MAP_NONE,
    };
    map_set(&sim->note_by_id, id, (uint32_t)sim->note_count++);
}

/* Nobody who is to be told is forgotten before. */
static void check_told(struct sim *sim, const struct notice_note *note)
{
    const uint32_t known = map_get(&sim->known_by_id, note->id);
    const bool is_detached = known != MAP_NONE && sim->knowns[known].is_detached;
    CHECK(sim, note->is_taken || note->has_letter || note->is_settled || is_detached ||
                   places_missed(sim, note->client, note->asked_ms));
}

void notices_record(struct sim *sim, const struct record *record)
{
    if (record->kind == RECORD_LETTER && !record->is_drop && record->letter.request != 0) {
        struct notice_note *note = notice_of(sim, record->letter.request);
        CHECK(sim, note != NULL);
        note->has_letter = true;
        note->refused = 0;
    }
    if (record->kind != RECORD_REQUEST || sim->plan.strength[FAULT_PINGBACK] == 0)
        return;
    struct notice_note *note = notice_of(sim, record->request.id);
    const bool has_address = !record->is_drop && record->request.pingback != NULL;
    if (note == NULL && has_address)
        note_new(sim, record->request.id);
    if (note == NULL || has_address)
        return;
    check_told(sim, note);
}

void notices_row(struct sim *sim, const struct record *record)
{
    if (record->kind != RECORD_REQUEST || (!record->is_drop && record->request.pingback != NULL))
        return;
    struct notice_note *note = notice_of(sim, record->request.id);
    if (note != NULL)
        note->is_settled = true;
}

/* ---- telling --------------------------------------------------------------------------------------- */

void notices_emitted(struct sim *sim, const struct notify *notify)
{
    struct notice_note *note = notice_of(sim, notify->request);
    CHECK(sim, note != NULL);
    /* Once at a time, not again what is known to be heard, and not for ever. */
    CHECK(sim, note->wire_in != sim->incarnation || note->has_letter);
    CHECK(sim, !note->is_settled || note->has_letter);
    CHECK(sim, note->refused <= sim->spans.most.notice_retries);
    note->wire_in = sim->incarnation;
}

void notices_send(struct sim *sim, const struct notify *notify, bool is_unsafe)
{
    struct notice_note *note = notice_of(sim, notify->request);
    enum notify_end end = NOTICE_DELIVERED;
    if (sim_chance(sim, FAULT_NOTICE_BUSY))
        end = NOTICE_BUSY;
    else if (sim_chance(sim, FAULT_NOTICE_REFUSED))
        end = NOTICE_REFUSED;
    /* What it says reaches us or not, having been heard. */
    const bool is_unheard = end == NOTICE_DELIVERED && sim_chance(sim, FAULT_NOTICE_UNHEARD);
    /* What was sent while the disk was full is sent again without waiting for it. */
    const uint32_t token = token_of(sim, blob_slice(notify->code));
    is_unsafe |= sim->disk.is_full || note->is_unsafe;
    note->is_unsafe = is_unsafe;
    if (is_unsafe && token != MAP_NONE)
        sim->tokens[token].is_unsafe = true;
    if (end == NOTICE_DELIVERED)
        check_notice(sim, note, notify, is_unsafe);
    sim_at(sim, end == NOTICE_BUSY ? 0 : sim_below(sim, 3000),
           (struct moment){.what = HAPPEN_NOTIFIED,
                           .incarnation = sim->incarnation,
                           .subject = (uint32_t)(note - sim->notes),
                           .detail = is_unheard ? NOTICE_REFUSED : end});
}

void notices_happen(struct sim *sim, const struct moment *moment)
{
    struct notice_note *note = &sim->notes[moment->subject];
    struct event event = {.kind = EVENT_NOTIFIED};
    event.notified = (struct notified){
        .request = note->id,
        .end = (enum notify_end)moment->detail,
        .why = "HTTP 500",
    };
    note->wire_in = 0;
    note->refused += event.notified.end == NOTICE_REFUSED;
    note->is_taken |= event.notified.end == NOTICE_DELIVERED;
    const uint32_t known = map_get(&sim->known_by_id, note->id);
    /* Whoever was told has read. */
    if (known != MAP_NONE)
        sim->knowns[known].is_end_told |= event.notified.end == NOTICE_DELIVERED;
    sim->tally.taken += event.notified.end == NOTICE_DELIVERED;
    sim_step(sim, &event);
}

/* ---- crashes and the end --------------------------------------------------------------------------- */

/* What is not on disk did not happen, but for what an address heard. */
void notices_after_crash(struct sim *sim)
{
    if (sim->note_count == 0)
        return;
    for (size_t i = 0; i < sim->note_count; i++) {
        struct notice_note *note = &sim->notes[i];
        const struct record *row = disk_find(&sim->disk, RECORD_REQUEST, note->id);
        note->has_letter = false;
        note->refused = 0;
        note->is_settled = row == NULL || row->request.pingback == NULL;
    }
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        if (row->is_used && row->record.kind == RECORD_LETTER && row->record.letter.request != 0)
            notice_of(sim, row->record.letter.request)->has_letter = true;
    }
}

bool notices_are_owed(const struct sim *sim)
{
    for (size_t i = 0; i < sim->note_count; i++) {
        const struct record *row = disk_find(&sim->disk, RECORD_REQUEST, sim->notes[i].id);
        if (row != NULL && row->request.pingback != NULL)
            return true;
    }
    return false;
}
