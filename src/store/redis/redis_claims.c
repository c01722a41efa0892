#include "store/redis/redis_claims.h"

#include "base/assert.h"
#include "store/redis/redis_again.h"
#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"
#include "store/store_fact.h"
#include "store/store_latest.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* Entries that the script changes by one command: what Lua takes apart at once has a limit. */
#define SECTION_MAX 256
/* What Lua counts exactly. */
#define SMALL_MOST (UINT64_C(1) << 50)

/* ---- words ------------------------------------------------------------------------------- */

/* The words of a script, gathered in one buffer. */
struct words {
    struct redis_store *store;
    size_t *ends; /* owned: where each word ends in store->names */
    size_t count, room;
    struct store_row *rows; /* owned: of the batch */
    int64_t wall_ms;
};

static void end_word(struct words *words)
{
    if (words->count == words->room) {
        words->room = words->room == 0 ? 1024 : 2 * words->room;
        size_t *const more = realloc(words->ends, words->room * sizeof *more);
        ASSERT(more != NULL);
        words->ends = more;
    }
    words->ends[words->count++] = words->store->names.len;
}

static void add_slice(struct words *words, struct slice text)
{
    buf_add(&words->store->names, text);
    end_word(words);
}

static void add_text(struct words *words, const char *text)
{
    add_slice(words, slice_from(text));
}

static void add_signed(struct words *words, int64_t number)
{
    buf_addf(&words->store->names, "%lld", (long long)number);
    end_word(words);
}

static void add_number(struct words *words, uint64_t number)
{
    buf_add_u64(&words->store->names, number);
    end_word(words);
}

static void add_key(struct words *words, bool is_given, const struct key *key)
{
    char digits[2 * KEY_BYTES + 1];
    (void)sodium_bin2hex(digits, sizeof digits, key->bytes, KEY_BYTES);
    add_text(words, is_given ? digits : "");
}

/* ---- entries ----------------------------------------------------------------------------- */

/* Negative while the row is open; see redis_write.c. */
static int64_t score_of(const struct body_expiry *expiry)
{
    int64_t time = expiry->time < 1 ? 1 : expiry->time;
    if (time > ROW_TIME_MAX)
        time = ROW_TIME_MAX;
    if (!expiry->has_time)
        time = 0;
    return expiry->is_open ? -time : time;
}

/* The row's text, score and lifetime. */
static void add_body(struct words *words, const struct record *record, struct slice client,
                     const char *more)
{
    struct redis_store *const store = words->store;
    struct row_value values[ROW_COLUMNS_MAX];
    (void)row_to_values(record, client, &store->scratch, values);
    buf_reset(&store->body);
    body_add(&store->body, record->kind, values, store->moved_ms);
    if (more != NULL && store->body.len > 0) {
        store->body.len--; /* the last brace */
        buf_addf(&store->body, "%s}", more);
    }
    const struct body_expiry expiry = body_expiry(record->kind, values, store->moved_ms);
    if (store->body.is_full)
        store->names.is_full = true;
    add_slice(words, buf_slice(&store->body));
    add_signed(words, score_of(&expiry));
    add_signed(words, body_lifetime(record->kind, &expiry, words->wall_ms, store->moved_ms));
}

static void add_record(struct words *words, const struct store_entry *entry)
{
    const struct record *const record = &entry->record;
    const struct slice client = {.data = entry->client, .len = entry->client_len};
    struct row_value values[ROW_COLUMNS_MAX];
    struct record name = *record;
    name.is_drop = true; /* gives only the values that name it */
    (void)row_to_values(&name, client, &words->store->scratch, values);
    body_add_name(&words->store->names, record->kind, values);
    end_word(words);
    if (!record->is_drop)
        add_body(words, record, client, NULL);
}

static void add_release(struct words *words, const struct release *release)
{
    add_key(words, true, &release->name);
    add_number(words, release->flight);
    add_number(words, release->solution);
    add_number(words, release->is_kept);
    add_number(words, release->attempts);
    add_text(words, error_class_words.name_at(release->class));
    add_text(words, release->code);
    add_number(words, release->keep_ms);
}

static void add_claim(struct words *words, const struct store_entry *entry, uint32_t place)
{
    const struct claim *const claim = &entry->asked->claim;
    const struct slice client = {.data = entry->client, .len = entry->client_len};
    struct record bound = {.kind = RECORD_IDEMPOTENCY};
    bound.idempotency = (struct idempotency_row){
        .digest = claim->idempotency,
        .fingerprint = claim->key,
        .flight = claim->flight,
        .expires_wall_ms = words->wall_ms + (int64_t)entry->asked->idempotency_ttl_ms};
    add_number(words, place);
    add_number(words, claim->flight);
    add_number(words, claim->following);
    add_text(words, reuse_words.name_at(claim->reuse));
    add_key(words, true, &claim->key);
    add_key(words, claim->has_name, &claim->name);
    add_key(words, claim->has_idempotency, &claim->idempotency);
    add_number(words, claim->min_ttl_ms);
    add_number(words, claim->max_age_ms);
    add_number(words, claim->may_take);
    add_number(words, claim->solution);
    add_key(words, claim->may_take, &claim->offered);
    if (claim->has_idempotency) {
        add_body(words, &bound, client, ",\"provisional\":1");
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        add_text(words, "");
}

static void add_small(struct words *words, uint64_t number)
{
    add_number(words, number < SMALL_MOST ? number : SMALL_MOST);
}

static void add_draw(struct words *words, const struct store_entry *entry, uint32_t place)
{
    const struct draw *const draw = &entry->drawn->draw;
    add_number(words, place);
    add_text(words, entry->client);
    add_signed(words, draw->day);
    add_small(words, draw->budget);
    add_small(words, draw->before);
    add_small(words, draw->used);
    add_small(words, draw->need);
    add_small(words, draw->block);
}

static void add_fact(struct words *words, const struct fact *fact)
{
    const struct vendor_result *const result = &fact->result;
    add_number(words, fact->number);
    if (fact_is_about_letter(fact))
        add_signed(words, (int64_t)fact_subject(fact));
    else
        add_number(words, fact_subject(fact));
    buf_reset(&words->store->body);
    fact_add_body(&words->store->body, fact);
    add_slice(words, buf_slice(&words->store->body));
    buf_addf(&words->store->names, "%s%s", result->text == NULL ? "" : "t",
             result->extra == NULL ? "" : "e");
    end_word(words);
    add_slice(words, blob_slice(result->text));
    add_slice(words, blob_slice(result->extra));
    add_number(words, fact->errand.to);
    add_key(words, fact->kind == FACT_BAD, &fact->bad.key);
    add_number(words, fact->bad.attempt);
}

static void begin_words(struct words *words, const struct store_batch *batch)
{
    const struct redis_store *const store = words->store;
    buf_reset(&words->store->names);
    words->count = 0;
    add_number(words, store->base.node);
    add_number(words, store->base.incarnation);
    add_number(words, batch->number);
    add_number(words, store->written);
}

static uint32_t add_facts(struct words *words, const struct store_batch *batch)
{
    const struct store_entry *entry = batch->first;
    uint32_t count = 0;
    begin_words(words, batch);
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next) {
        if (entry->told == NULL)
            continue;
        add_fact(words, entry->told);
        count++;
    }
    return count;
}

/* ---- sections ---------------------------------------------------------------------------- */

/* Entries of one sort begin with it, what is said of all of them, and how many there are. */
static void begin_section(struct words *words, const char *what, const char *kind, size_t count)
{
    add_text(words, what);
    if (kind != NULL)
        add_text(words, kind);
    add_number(words, count);
}

static bool is_of(const struct store_row *row, enum record_kind kind, bool is_drop)
{
    return row->entry->record.kind == kind && row->entry->record.is_drop == is_drop;
}

static size_t count_like(const struct store_row *rows, size_t count, enum record_kind kind,
                         bool is_drop)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += is_of(&rows[i], kind, is_drop) ? 1 : 0;
    return found;
}

/* Rows of one kind that are put, or dropped. */
static void add_rows(struct words *words, const struct store_row *rows, size_t count, bool is_drop)
{
    const enum record_kind kind = rows[0].entry->record.kind;
    size_t left = count_like(rows, count, kind, is_drop);
    size_t room = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_of(&rows[i], kind, is_drop))
            continue;
        if (room == 0) {
            room = left < SECTION_MAX ? left : SECTION_MAX;
            left -= room;
            begin_section(words, is_drop ? "drop" : "put", row_tables[kind].name, room);
        }
        room--;
        add_record(words, rows[i].entry);
    }
}

/* The last word on each row. */
static void add_records(struct words *words, const struct store_batch *batch)
{
    const size_t count = store_latest(batch, words->rows);
    size_t end = 0;
    for (size_t start = 0; start < count; start = end) {
        const enum record_kind kind = words->rows[start].entry->record.kind;
        while (end < count && words->rows[end].entry->record.kind == kind)
            end++;
        add_rows(words, words->rows + start, end - start, false);
        add_rows(words, words->rows + start, end - start, true);
    }
}

static bool is_release(const struct words *words, const struct store_entry *entry)
{
    (void)words;
    return entry->release != NULL;
}

static bool is_forgotten(const struct words *words, const struct store_entry *entry)
{
    (void)words;
    return entry->forgotten != 0;
}

static bool is_claim(const struct words *words, const struct store_entry *entry)
{
    return entry->asked != NULL && !store_claim_waits(&words->store->base, entry->asked);
}

static bool is_draw(const struct words *words, const struct store_entry *entry)
{
    (void)words;
    return entry->drawn != NULL;
}

static void add_other(struct words *words, const struct store_entry *entry, uint32_t place)
{
    if (entry->asked != NULL)
        add_claim(words, entry, place);
    else if (entry->drawn != NULL)
        add_draw(words, entry, place);
    else if (entry->release != NULL)
        add_release(words, entry->release);
    else
        add_number(words, entry->forgotten);
}

/* Each sort of entries that are no rows, in their order. */
static void add_others(struct words *words, const struct store_batch *batch, const char *what,
                       bool (*is_one)(const struct words *words, const struct store_entry *entry))
{
    const struct store_entry *entry = batch->first;
    size_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        if (is_one(words, entry))
            words->rows[count++] = (struct store_row){.entry = entry, .place = i};
    for (size_t i = 0; i < count; i++) {
        const size_t left = count - i;
        if (i % SECTION_MAX == 0)
            begin_section(words, what, NULL, left < SECTION_MAX ? left : SECTION_MAX);
        add_other(words, words->rows[i].entry, words->rows[i].place);
    }
}

/* All but the facts. */
static void add_batch(struct words *words, const struct store_batch *batch)
{
    const struct redis_store *const store = words->store;
    begin_words(words, batch);
    add_text(words, store->node);
    add_text(words, store->token);
    add_number(words, REDIS_LEASE_MS);
    add_records(words, batch);
    add_others(words, batch, "release", is_release);
    add_others(words, batch, "forget", is_forgotten);
    add_others(words, batch, "claim", is_claim);
    add_others(words, batch, "draw", is_draw);
}

/* ---- answers ----------------------------------------------------------------------------- */

static const char *text_at(const struct redis_reply *reply, size_t place)
{
    const struct redis_reply *const item = redis_reply_item(reply, place);
    return item != NULL && item->type == REPLY_STRING ? item->bytes : "";
}

static uint64_t number_at(const struct redis_reply *reply, size_t place)
{
    return strtoull(text_at(reply, place), NULL, 10);
}

static bool find_result(const char *word, enum claim_result *result)
{
    static const char *const words[] = {
        [CLAIM_WON] = "won",     [CLAIM_FOLLOW] = "follow",     [CLAIM_SOLVED] = "solved",
        [CLAIM_TAKEN] = "taken", [CLAIM_MISMATCH] = "mismatch", [CLAIM_REFUSED] = "refused",
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) {
            *result = (enum claim_result)i;
            return true;
        }
    return false;
}

static void take_solution(const struct redis_store *store, struct store_asked *asked,
                          struct slice row)
{
    struct redis_body body;
    struct slice client;
    body_read(&body, row, RECORD_SOLUTION, store->moved_ms);
    asked->solution = (struct record){.kind = RECORD_SOLUTION};
    asked->has_solution = row_from_values(body.values, &asked->solution, &client);
    if (asked->has_solution)
        (void)snprintf(asked->client, sizeof asked->client, "%.*s", (int)client.len, client.data);
    else
        record_close(&asked->solution);
    body_close(&body);
}

static void take_answer(const struct redis_store *store, struct store_asked *asked,
                        const struct redis_reply *reply)
{
    struct claimed *const claimed = &asked->claimed;
    unsigned class = CLASS_NONE;
    if (!find_result(text_at(reply, 1), &claimed->result))
        return;
    claimed->followed = number_at(reply, 2);
    claimed->is_lost = number_at(reply, 11) != 0;
    claimed->is_own = number_at(reply, 3) != 0;
    claimed->is_solving = number_at(reply, 4) != 0;
    claimed->is_replayed = number_at(reply, 5) != 0;
    claimed->is_renewed = number_at(reply, 6) != 0;
    claimed->attempts = (uint16_t)number_at(reply, 7);
    if (row_words_find(&error_class_words, slice_from(text_at(reply, 8)), &class))
        claimed->class = (enum error_class) class;
    (void)snprintf(claimed->code, sizeof claimed->code, "%s", text_at(reply, 9));
    if (claimed->result != CLAIM_SOLVED && claimed->result != CLAIM_TAKEN)
        return;
    claimed->owner = claimed->result == CLAIM_TAKEN ? (uint16_t)claimed->followed : 0;
    take_solution(store, asked, redis_reply_slice(redis_reply_item(reply, 10)));
    /* A row that makes no sense is as good as none: it is asked again. */
    if (!asked->has_solution)
        claimed->result = CLAIM_UNAVAILABLE;
}

static void take_drawn(struct drawn *drawn, const struct redis_reply *reply)
{
    drawn->is_known = true;
    drawn->held = number_at(reply, 1);
    drawn->left = number_at(reply, 2);
}

/* Claims and draws are answered with their places. */
static void take_answers(const struct words *words, const struct store_batch *batch,
                         const struct redis_reply *reply)
{
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        words->rows[i] = (struct store_row){.entry = entry, .place = i};
    for (size_t i = 1; redis_reply_item(reply, i) != NULL; i++) {
        const struct redis_reply *const item = redis_reply_item(reply, i);
        const uint64_t place = number_at(item, 0);
        entry = place < batch->count ? words->rows[place].entry : NULL;
        if (entry != NULL && entry->drawn != NULL)
            take_drawn(&entry->drawn->drawn, item);
        else if (entry != NULL && entry->asked != NULL)
            take_answer(words->store, entry->asked, item);
    }
}

/* ---- writing ----------------------------------------------------------------------------- */

static enum store_result send(struct words *words, enum redis_script script,
                              struct redis_reply **reply)
{
    struct redis_store *const store = words->store;
    if (store->names.is_full) {
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "a row is too large for the store on the Redis server at %s", store->place);
        return STORE_FAILED;
    }
    struct slice *const all = malloc(words->count * sizeof *all);
    ASSERT(all != NULL);
    for (size_t i = 0; i < words->count; i++) {
        const size_t start = i == 0 ? 0 : words->ends[i - 1];
        all[i] = (struct slice){.data = store->names.data + start, .len = words->ends[i] - start};
    }
    const enum store_result result = script_run(store, script, all, words->count, reply);
    free(all);
    return result == STORE_DONE && script_is_fenced(store, *reply) ? STORE_REFUSED : result;
}

/* Facts go first and by themselves, since a server without room for anything else still takes them. Nothing in a batch
 * depends on the facts that it tells. */
static enum store_result write_facts(struct words *words, const struct store_batch *batch,
                                     uint32_t *count)
{
    struct redis_reply *reply = NULL;
    *count = add_facts(words, batch);
    if (*count == 0)
        return STORE_DONE;
    const enum store_result result = send(words, SCRIPT_TELL, &reply);
    redis_reply_free(reply);
    return result;
}

static enum store_result write_rest(struct words *words, const struct store_batch *batch)
{
    struct redis_reply *reply = NULL;
    add_batch(words, batch);
    const enum store_result result = send(words, SCRIPT_WRITE, &reply);
    if (result == STORE_DONE)
        take_answers(words, batch, reply);
    if (result == STORE_DONE)
        words->store->written = batch->number;
    redis_reply_free(reply);
    return result;
}

static enum store_result write_once(struct redis_store *store, const struct store_batch *batch)
{
    struct words words = {.store = store,
                          .rows = malloc(batch->count * sizeof *words.rows),
                          .wall_ms = clocks_read().wall_ms};
    uint32_t facts = 0;
    ASSERT(words.rows != NULL);
    enum store_result result = session_ensure(store);
    store_look_at_grace(&store->base);
    if (result == STORE_DONE)
        result = write_facts(&words, batch, &facts);
    if (result == STORE_DONE && facts < batch->count)
        result = write_rest(&words, batch);
    free(words.rows);
    free(words.ends);
    return result;
}

/* A connection that was lost since the last batch is no reason to report anything. */
enum store_result claims_write(struct redis_store *store, const struct store_batch *batch)
{
    const bool was_connected = store->link != NULL;
    enum store_result result = write_once(store, batch);
    if (result == STORE_RETRY && was_connected)
        result = write_once(store, batch);
    /* A new connection has looked already. */
    if (result != STORE_REFUSED || store->link == NULL)
        return result;
    result = again_enter(store);
    if (result != STORE_DONE)
        return result;
    /* Whatever else is missing is found by a new connection. */
    call_disconnect(store);
    return write_once(store, batch);
}
