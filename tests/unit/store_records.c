#include "store_world.h"

#include <solvegate/words.h>

#include <stdio.h>
#include <stdlib.h>

/* Any bytes, NULs among them; sometimes as long as a big token. */
static struct blob *some_bytes(struct rand *rand)
{
    const uint64_t len = rand_below(rand, 4) == 0 ? 4000 : rand_below(rand, 200);
    struct blob *const blob = blob_alloc((size_t)len);
    for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
        const uint64_t word = rand_u64(rand);
        memcpy(blob->data + i, &word, len - i < sizeof(word) ? len - i : sizeof(word));
    }
    return blob;
}

static struct blob *some_text(struct rand *rand)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "ERROR_\"%llu\"\n\xc3\xa9",
                   (unsigned long long)rand_below(rand, 1000));
    return blob_new(slice_from(text));
}

static void some_string(struct rand *rand, char *string, size_t room)
{
    const size_t len = (size_t)rand_below(rand, room);
    for (size_t i = 0; i < len; i++)
        string[i] = (char)('A' + rand_below(rand, 26));
    string[len] = '\0';
}

static struct key some_key(struct rand *rand)
{
    struct key key;
    for (size_t i = 0; i < KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)rand_below(rand, 256);
    return key;
}

static int64_t soon(struct rand *rand)
{
    return WORLD_NOW + 1 + (int64_t)rand_below(rand, 1000000);
}

static bool flip(struct rand *rand)
{
    return rand_below(rand, 2) == 1;
}

static struct letter_row some_letter(struct rand *rand, uint64_t id)
{
    struct letter_row row = {
        .number = id,
        .key = some_key(rand),
        .client = (client_id)rand_below(rand, WORLD_CLIENTS),
        .type = (enum type)rand_below(rand, TYPE_COUNT),
        .class = (enum error_class)rand_below(rand, CLASS_COUNT),
        .reuse = (enum reuse)rand_below(rand, REUSE_NONE + 1),
        .priority = (uint8_t)rand_below(rand, 256),
        .is_one_time = flip(rand),
        .wants_rest = flip(rand),
        .created_wall_ms = soon(rand),
        .told = (uint32_t)rand_u64(rand),
        .replays = (uint16_t)rand_u64(rand),
        .retries = (uint16_t)rand_u64(rand),
        .error = some_text(rand),
        .params = some_bytes(rand),
        .kind = (enum letter_kind)rand_below(rand, LETTER_KIND_COUNT),
        .request = rand_u64(rand),
        .pingback = flip(rand) ? some_bytes(rand) : NULL,
        .text = flip(rand) ? some_bytes(rand) : NULL,
        .extra = flip(rand) ? some_bytes(rand) : NULL,
        .fresh_wall_ms = soon(rand),
        .note_count = (size_t)rand_below(rand, NOTES_MAX + 1),
    };
    some_string(rand, row.task_id, sizeof(row.task_id));
    row.notes = row.note_count == 0 ? NULL : calloc(row.note_count, sizeof(*row.notes));
    for (size_t i = 0; i < row.note_count; i++)
        row.notes[i] = (struct attempt_note){
            .wall_ms = soon(rand),
            .took_ms = (uint32_t)rand_u64(rand),
            .class = (enum error_class)rand_below(rand, CLASS_COUNT),
            .code = some_text(rand),
            .task_id = flip(rand) ? some_text(rand) : NULL,
        };
    return row;
}

static struct solution_row some_solution(struct rand *rand, uint64_t id)
{
    struct solution_row row = {
        .id = id,
        .flight = rand_u64(rand),
        .attempt = rand_u64(rand),
        .key = some_key(rand),
        .client = (client_id)rand_below(rand, WORLD_CLIENTS),
        .type = (enum type)rand_below(rand, TYPE_COUNT),
        .born_wall_ms = soon(rand),
        .expires_wall_ms = soon(rand),
        .solve_ms = rand_u64(rand),
        .handed = (uint32_t)rand_u64(rand),
        .attempts = (uint16_t)rand_u64(rand),
        .is_kept = flip(rand),
        .is_shared = flip(rand),
        .is_bad = flip(rand),
        .text = some_bytes(rand),
        .extra = flip(rand) ? some_bytes(rand) : NULL,
    };
    some_string(rand, row.task_id, sizeof(row.task_id));
    return row;
}

static struct flight_row some_flight(struct rand *rand, uint64_t id)
{
    struct flight_row row = {
        .id = id,
        .key = some_key(rand),
        .client = (client_id)rand_below(rand, WORLD_CLIENTS),
        .type = (enum type)rand_below(rand, TYPE_COUNT),
        .reuse = (enum reuse)rand_below(rand, REUSE_NONE + 1),
        .priority = (uint8_t)rand_below(rand, 256),
        .is_one_time = flip(rand),
        .wants_rest = flip(rand),
        .is_over = flip(rand),
        .class = (enum error_class)rand_below(rand, CLASS_COUNT),
        .attempts = (uint16_t)rand_u64(rand),
        .created_wall_ms = soon(rand),
        .params = some_bytes(rand),
        .has_max_retries = flip(rand),
        .retry_delay_ms = (uint32_t)rand_u64(rand),
    };
    row.max_retries = row.has_max_retries ? (uint16_t)rand_u64(rand) : 0;
    row.adoptions = (uint8_t)rand_u64(rand);
    row.has_idempotency = flip(rand);
    if (row.has_idempotency)
        row.idempotency = some_key(rand);
    some_string(rand, row.code, sizeof(row.code));
    return row;
}

static struct attempt_row some_attempt(struct rand *rand, uint64_t id)
{
    struct attempt_row row = {
        .name = id,
        .flight = rand_u64(rand),
        .key = some_key(rand),
        .client = (client_id)rand_below(rand, WORLD_CLIENTS),
        .type = (enum type)rand_below(rand, TYPE_COUNT),
        .reuse = (enum reuse)rand_below(rand, REUSE_NONE + 1),
        .is_one_time = flip(rand),
        .wants_rest = flip(rand),
        .is_counted = flip(rand),
        .is_closed = flip(rand),
        .is_solved = flip(rand),
        .number = (uint16_t)rand_u64(rand),
        .why = (enum cause)rand_below(rand, CAUSE_COUNT),
        .is_resent = flip(rand),
        .cause_class = (enum error_class)rand_below(rand, CLASS_COUNT),
        .started_wall_ms = soon(rand),
        .partial = flip(rand) ? some_bytes(rand) : NULL,
    };
    some_string(rand, row.cause, sizeof(row.cause));
    some_string(rand, row.task_id, sizeof(row.task_id));
    return row;
}

static struct request_row some_request(struct rand *rand, uint64_t id)
{
    struct request_row row = {
        .id = id,
        .client = (client_id)rand_below(rand, WORLD_CLIENTS),
        .flight = rand_u64(rand),
        .solution = rand_u64(rand),
        .state = (enum request_state)rand_below(rand, REQUEST_FAILED + 1),
        .source = (enum source)rand_below(rand, SOURCE_COUNT),
        .class = (enum error_class)rand_below(rand, CLASS_COUNT),
        .attempts = (uint16_t)rand_u64(rand),
        .expires_wall_ms = soon(rand),
        .pingback = flip(rand) ? some_bytes(rand) : NULL,
    };
    some_string(rand, row.code, sizeof(row.code));
    return row;
}

static struct idempotency_row some_idempotency(struct rand *rand, uint64_t id)
{
    return (struct idempotency_row){
        .digest = key_from_u64(id),
        .client = (client_id)rand_below(rand, WORLD_CLIENTS),
        .fingerprint = some_key(rand),
        .flight = rand_u64(rand),
        .solution = rand_u64(rand),
        .expires_wall_ms = soon(rand),
    };
}

static struct day_row some_day(struct rand *rand, uint64_t id)
{
    struct day_row row = {.day = (int64_t)id};
    struct stats stats = {0};
#define STATS_AT_RANDOM(field, unit, metric, labels, text) stats.field = rand_u64(rand);
    STATS_LIST(STATS_AT_RANDOM)
#undef STATS_AT_RANDOM
    row.stats = record_pack_stats(&stats);
    /* An hour without payments is not stored, nor is a day without any. */
    struct shadow_hour hours[SHADOW_HOURS] = {{0}};
    for (unsigned i = (unsigned)(id % 3); i < SHADOW_HOURS; i += 3)
        hours[i] = (struct shadow_hour){
            .paid = 1 + rand_u64(rand) / 2, .duplicates = rand_u64(rand), .saved_micro = i};
    if (id % 4 != 0)
        row.hours = blob_new((struct slice){.data = (const char *)hours, .len = sizeof hours});
    return row;
}

static struct tally_row some_tally(struct rand *rand, uint64_t id)
{
    struct tally_row row = {.day = WORLD_NOW / 86400000 + (int64_t)(id / WORLD_CLIENTS),
                            .client = (client_id)(id % WORLD_CLIENTS),
                            .type = (enum type)(id % TYPE_COUNT)};
#define TALLY_AT_RANDOM(field, unit, metric, text) row.tally.field = rand_u64(rand);
    TALLY_LIST(TALLY_AT_RANDOM)
#undef TALLY_AT_RANDOM
    return row;
}

struct record world_record(struct store_world *world, enum record_kind kind, uint64_t id)
{
    struct rand *const rand = &world->rand;
    struct record record = {.kind = kind};
    switch (kind) {
    case RECORD_DAY:
        record.day = some_day(rand, (uint64_t)(WORLD_NOW / 86400000) + id);
        break;
    case RECORD_TALLY:
        record.tally = some_tally(rand, id);
        break;
    case RECORD_SPENT:
        record.spent =
            (struct spent_row){.client = (client_id)(id % WORLD_CLIENTS),
                               .day = WORLD_NOW / 86400000 + (int64_t)rand_below(rand, 20000),
                               .spent = rand_u64(rand)};
        break;
    case RECORD_SOLUTION:
        record.solution = some_solution(rand, id);
        break;
    case RECORD_FLIGHT:
        record.flight = some_flight(rand, id);
        break;
    case RECORD_ATTEMPT:
        record.attempt = some_attempt(rand, id);
        break;
    case RECORD_REQUEST:
        record.request = some_request(rand, id);
        break;
    case RECORD_IDEMPOTENCY:
        record.idempotency = some_idempotency(rand, id);
        break;
    case RECORD_LETTER:
        record.letter = some_letter(rand, id);
        break;
    case RECORD_KIND_COUNT:
        UNREACHABLE();
    }
    return record;
}

struct record world_share(const struct record *record)
{
    struct record copy = *record;
    if (record->kind == RECORD_SOLUTION) {
        (void)blob_ref(copy.solution.text);
        (void)blob_ref(copy.solution.extra);
    } else if (record->kind == RECORD_DAY) {
        (void)blob_ref(copy.day.stats);
        (void)blob_ref(copy.day.hours);
    } else if (record->kind == RECORD_FLIGHT) {
        (void)blob_ref(copy.flight.params);
    } else if (record->kind == RECORD_ATTEMPT) {
        (void)blob_ref(copy.attempt.partial);
    } else if (record->kind == RECORD_REQUEST) {
        (void)blob_ref(copy.request.pingback);
    } else if (record->kind == RECORD_LETTER) {
        struct letter_row *const row = &copy.letter;
        (void)blob_ref(row->pingback);
        (void)blob_ref(row->text);
        (void)blob_ref(row->extra);
        (void)blob_ref(row->error);
        (void)blob_ref(row->params);
        if (row->note_count > 0) {
            row->notes = calloc(row->note_count, sizeof(*row->notes));
            memcpy(row->notes, record->letter.notes, row->note_count * sizeof(*row->notes));
        }
        for (size_t i = 0; i < row->note_count; i++) {
            (void)blob_ref(row->notes[i].code);
            (void)blob_ref(row->notes[i].task_id);
        }
    }
    return copy;
}

#define SAME(field)               \
    do {                          \
        if (a->field != b->field) \
            return #field;        \
    } while (0)
#define SAME_KEY(field)                        \
    do {                                       \
        if (!key_equals(&a->field, &b->field)) \
            return #field;                     \
    } while (0)
#define SAME_STRING(field)                   \
    do {                                     \
        if (strcmp(a->field, b->field) != 0) \
            return #field;                   \
    } while (0)
#define SAME_BLOB(field)                                               \
    do {                                                               \
        if ((a->field == NULL) != (b->field == NULL) ||                \
            !slice_equals(blob_slice(a->field), blob_slice(b->field))) \
            return #field;                                             \
    } while (0)

static const char *solution_difference(const struct solution_row *a, const struct solution_row *b)
{
    SAME(id);
    SAME(flight);
    SAME(attempt);
    SAME_KEY(key);
    SAME(client);
    SAME(type);
    SAME(born_wall_ms);
    SAME(expires_wall_ms);
    SAME(solve_ms);
    SAME(handed);
    SAME(attempts);
    SAME(is_kept);
    SAME(is_shared);
    SAME(is_bad);
    SAME_STRING(task_id);
    SAME_BLOB(text);
    SAME_BLOB(extra);
    return NULL;
}

static const char *flight_difference(const struct flight_row *a, const struct flight_row *b)
{
    SAME(id);
    SAME_KEY(key);
    SAME(client);
    SAME(type);
    SAME(reuse);
    SAME(priority);
    SAME(is_one_time);
    SAME(wants_rest);
    SAME(is_over);
    SAME(class);
    SAME(attempts);
    SAME(created_wall_ms);
    SAME(has_max_retries);
    SAME(max_retries);
    SAME(retry_delay_ms);
    SAME(has_idempotency);
    SAME(adoptions);
    SAME_KEY(idempotency);
    SAME_STRING(code);
    SAME_BLOB(params);
    return NULL;
}

static const char *attempt_difference(const struct attempt_row *a, const struct attempt_row *b)
{
    SAME(name);
    SAME(flight);
    SAME_KEY(key);
    SAME(client);
    SAME(type);
    SAME(reuse);
    SAME(is_one_time);
    SAME(wants_rest);
    SAME(is_counted);
    SAME(is_closed);
    SAME(is_solved);
    SAME(number);
    SAME(why);
    SAME(is_resent);
    SAME(cause_class);
    SAME_STRING(cause);
    SAME(started_wall_ms);
    SAME_BLOB(partial);
    SAME_STRING(task_id);
    return NULL;
}

static const char *request_difference(const struct request_row *a, const struct request_row *b)
{
    SAME(id);
    SAME(client);
    SAME(flight);
    SAME(solution);
    SAME(state);
    SAME(source);
    SAME(class);
    SAME(attempts);
    SAME_BLOB(pingback);
    SAME(expires_wall_ms);
    SAME_STRING(code);
    return NULL;
}

static const char *note_difference(const struct attempt_note *a, const struct attempt_note *b)
{
    SAME(wall_ms);
    SAME(took_ms);
    SAME(class);
    SAME_BLOB(code);
    SAME_BLOB(task_id);
    return NULL;
}

static const char *letter_difference(const struct letter_row *a, const struct letter_row *b)
{
    SAME(number);
    SAME_KEY(key);
    SAME(client);
    SAME(type);
    SAME(class);
    SAME(reuse);
    SAME(priority);
    SAME(is_one_time);
    SAME(wants_rest);
    SAME(created_wall_ms);
    SAME(told);
    SAME(replays);
    SAME(retries);
    SAME(kind);
    SAME(request);
    SAME_BLOB(pingback);
    SAME_BLOB(text);
    SAME_BLOB(extra);
    SAME(fresh_wall_ms);
    SAME_STRING(task_id);
    SAME_BLOB(error);
    SAME_BLOB(params);
    SAME(note_count);
    const char *difference = NULL;
    for (size_t i = 0; i < a->note_count && difference == NULL; i++)
        difference = note_difference(&a->notes[i], &b->notes[i]);
    return difference;
}

static const char *idempotency_difference(const struct idempotency_row *a,
                                          const struct idempotency_row *b)
{
    SAME_KEY(digest);
    SAME(client);
    SAME_KEY(fingerprint);
    SAME(flight);
    SAME(solution);
    SAME(expires_wall_ms);
    return NULL;
}

static const char *tally_difference(const struct tally_row *a, const struct tally_row *b)
{
    SAME(day);
    SAME(client);
    SAME(type);
#define TALLY_SAME(field, unit, metric, text) SAME(tally.field);
    TALLY_LIST(TALLY_SAME)
#undef TALLY_SAME
    return NULL;
}

static const char *book_difference(const struct record *a, const struct record *b)
{
    if (a->kind == RECORD_SPENT) {
        SAME(spent.client);
        SAME(spent.day);
        SAME(spent.spent);
        return NULL;
    }
    SAME(day.day);
    const struct stats before = record_stats(&a->day);
    const struct stats now = record_stats(&b->day);
#define STATS_SAME(field, unit, metric, labels, text) \
    if (before.field != now.field)                    \
        return "day.stats." #field;
    STATS_LIST(STATS_SAME)
#undef STATS_SAME
    if (!slice_equals(blob_slice(a->day.hours), blob_slice(b->day.hours)))
        return "day.hours";
    return NULL;
}

const char *world_difference(const struct record *a, const struct record *b)
{
    SAME(kind);
    SAME(is_drop);
    switch (a->kind) {
    case RECORD_TALLY:
        return tally_difference(&a->tally, &b->tally);
    case RECORD_DAY:
    case RECORD_SPENT:
        return book_difference(a, b);
    case RECORD_SOLUTION:
        return solution_difference(&a->solution, &b->solution);
    case RECORD_FLIGHT:
        return flight_difference(&a->flight, &b->flight);
    case RECORD_ATTEMPT:
        return attempt_difference(&a->attempt, &b->attempt);
    case RECORD_REQUEST:
        return request_difference(&a->request, &b->request);
    case RECORD_IDEMPOTENCY:
        return idempotency_difference(&a->idempotency, &b->idempotency);
    case RECORD_LETTER:
        return letter_difference(&a->letter, &b->letter);
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}
