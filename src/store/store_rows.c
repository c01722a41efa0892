#include "store/store_rows.h"

#include "store/store_json.h"
#include "store/store_words.h"

client_id *row_client(struct record *record)
{
    switch (record->kind) {
    case RECORD_TALLY:
        return &record->tally.client;
    case RECORD_SPENT:
        return &record->spent.client;
    case RECORD_SOLUTION:
        return &record->solution.client;
    case RECORD_FLIGHT:
        return &record->flight.client;
    case RECORD_ATTEMPT:
        return &record->attempt.client;
    case RECORD_REQUEST:
        return &record->request.client;
    case RECORD_LETTER:
        return &record->letter.client;
    case RECORD_IDEMPOTENCY:
        return &record->idempotency.client;
    case RECORD_DAY:
    case RECORD_KIND_COUNT:
        return NULL;
    }
    UNREACHABLE();
}

static void put_day(struct sql_out *out, const struct day_row *row, struct buf *scratch)
{
    store_json_add_stats(scratch, &row->stats);
    sql_put_i64(out, row->day);
    sql_put_text(out, buf_slice(scratch));
}

static void put_tally(struct sql_out *out, const struct tally_row *row, struct slice client,
                      struct buf *scratch)
{
    store_json_add_tally(scratch, &row->tally);
    sql_put_i64(out, row->day);
    sql_put_text(out, client);
    sql_put_word(out, captcha_name(row->captcha));
    sql_put_text(out, buf_slice(scratch));
}

static void put_spent(struct sql_out *out, const struct spent_row *row, struct slice client)
{
    sql_put_text(out, client);
    sql_put_i64(out, row->day);
    sql_put_u64(out, row->spent);
}

static void put_solution(struct sql_out *out, const struct solution_row *row, struct slice client)
{
    sql_put_u64(out, row->id);
    sql_put_u64(out, row->flight);
    sql_put_u64(out, row->attempt);
    sql_put_key(out, &row->key);
    sql_put_text(out, client);
    sql_put_word(out, captcha_name(row->captcha));
    sql_put_i64(out, row->born_wall_ms);
    sql_put_i64(out, row->expires_wall_ms);
    sql_put_u64(out, row->solve_ms);
    sql_put_i64(out, row->handed);
    sql_put_i64(out, row->attempts);
    sql_put_i64(out, row->is_kept);
    sql_put_i64(out, row->is_shared);
    sql_put_word(out, row->task_id);
    sql_put_bytes(out, blob_slice(row->text));
    sql_put_bytes(out, blob_slice(row->extra));
}

static void put_flight(struct sql_out *out, const struct flight_row *row, struct slice client)
{
    sql_put_u64(out, row->id);
    sql_put_key(out, &row->key);
    sql_put_text(out, client);
    sql_put_word(out, captcha_name(row->captcha));
    sql_put_word(out, reuse_name(row->reuse));
    sql_put_i64(out, row->priority);
    sql_put_i64(out, row->is_one_time);
    sql_put_i64(out, row->wants_rest);
    sql_put_i64(out, row->is_over);
    sql_put_word(out, class_name(row->class));
    sql_put_word(out, row->code);
    sql_put_i64(out, row->created_wall_ms);
    sql_put_bytes(out, blob_slice(row->params));
    sql_put_i64(out, row->has_max_retries ? row->max_retries : -1);
    sql_put_i64(out, row->retry_delay_ms);
    sql_put_i64(out, row->attempts);
}

static void put_attempt(struct sql_out *out, const struct attempt_row *row, struct slice client)
{
    sql_put_u64(out, row->name);
    sql_put_u64(out, row->flight);
    sql_put_key(out, &row->key);
    sql_put_text(out, client);
    sql_put_word(out, captcha_name(row->captcha));
    sql_put_word(out, reuse_name(row->reuse));
    sql_put_i64(out, row->is_one_time);
    sql_put_i64(out, row->wants_rest);
    sql_put_i64(out, row->is_counted);
    sql_put_i64(out, row->is_closed);
    sql_put_i64(out, row->is_solved);
    sql_put_i64(out, row->started_wall_ms);
    sql_put_word(out, row->task_id);
    sql_put_word(out, class_name(row->cause_class));
    sql_put_word(out, row->cause);
    sql_put_bytes(out, blob_slice(row->partial));
    sql_put_i64(out, row->number);
    sql_put_word(out, cause_name(row->why));
    sql_put_i64(out, row->is_resent);
}

static void put_request(struct sql_out *out, const struct request_row *row, struct slice client)
{
    sql_put_u64(out, row->id);
    sql_put_text(out, client);
    sql_put_u64(out, row->flight);
    sql_put_u64(out, row->solution);
    sql_put_word(out, request_state_name(row->state));
    sql_put_word(out, source_name(row->source));
    sql_put_word(out, class_name(row->class));
    sql_put_word(out, row->code);
    sql_put_i64(out, row->attempts);
    sql_put_i64(out, row->expires_wall_ms);
    sql_put_bytes(out, blob_slice(row->pingback));
}

static void put_idempotency(struct sql_out *out, const struct idempotency_row *row,
                            struct slice client)
{
    sql_put_key(out, &row->digest);
    sql_put_text(out, client);
    sql_put_key(out, &row->fingerprint);
    sql_put_u64(out, row->flight);
    sql_put_u64(out, row->solution);
    sql_put_i64(out, row->expires_wall_ms);
}

static void put_letter(struct sql_out *out, const struct letter_row *row, struct slice client,
                       struct buf *scratch)
{
    store_json_add_notes(scratch, row);
    sql_put_u64(out, row->number);
    sql_put_key(out, &row->key);
    sql_put_text(out, client);
    sql_put_word(out, captcha_name(row->captcha));
    sql_put_word(out, class_name(row->class));
    sql_put_word(out, reuse_name(row->reuse));
    sql_put_i64(out, row->priority);
    sql_put_i64(out, row->is_one_time);
    sql_put_i64(out, row->wants_rest);
    sql_put_i64(out, row->created_wall_ms);
    sql_put_i64(out, row->told);
    sql_put_i64(out, row->replays);
    sql_put_text(out, blob_slice(row->error));
    sql_put_text(out, buf_slice(scratch));
    sql_put_bytes(out, blob_slice(row->params));
    sql_put_word(out, letter_kind_name(row->kind));
    sql_put_u64(out, row->request);
    sql_put_bytes(out, blob_slice(row->pingback));
    sql_put_bytes(out, blob_slice(row->text));
    sql_put_word(out, row->task_id);
    sql_put_bytes(out, blob_slice(row->extra));
    sql_put_i64(out, row->fresh_wall_ms);
    sql_put_i64(out, row->retries);
}

void row_put(struct sql_out *out, const struct record *record, struct slice client,
             struct buf *scratch)
{
    buf_reset(scratch);
    switch (record->kind) {
    case RECORD_DAY:
        put_day(out, &record->day, scratch);
        break;
    case RECORD_TALLY:
        put_tally(out, &record->tally, client, scratch);
        break;
    case RECORD_SPENT:
        put_spent(out, &record->spent, client);
        break;
    case RECORD_SOLUTION:
        put_solution(out, &record->solution, client);
        break;
    case RECORD_FLIGHT:
        put_flight(out, &record->flight, client);
        break;
    case RECORD_ATTEMPT:
        put_attempt(out, &record->attempt, client);
        break;
    case RECORD_REQUEST:
        put_request(out, &record->request, client);
        break;
    case RECORD_IDEMPOTENCY:
        put_idempotency(out, &record->idempotency, client);
        break;
    case RECORD_LETTER:
        put_letter(out, &record->letter, client, scratch);
        break;
    case RECORD_KIND_COUNT:
        UNREACHABLE();
    }
    ASSERT(!scratch->is_full);
}

void row_put_name(struct sql_out *out, const struct record *record, struct slice client)
{
    switch (record->kind) {
    case RECORD_DAY:
        sql_put_i64(out, record->day.day);
        return;
    case RECORD_TALLY:
        sql_put_i64(out, record->tally.day);
        sql_put_text(out, client);
        sql_put_word(out, captcha_name(record->tally.captcha));
        return;
    case RECORD_SPENT:
        sql_put_text(out, client);
        return;
    case RECORD_SOLUTION:
        sql_put_u64(out, record->solution.id);
        return;
    case RECORD_FLIGHT:
        sql_put_u64(out, record->flight.id);
        return;
    case RECORD_ATTEMPT:
        sql_put_u64(out, record->attempt.name);
        return;
    case RECORD_REQUEST:
        sql_put_u64(out, record->request.id);
        return;
    case RECORD_IDEMPOTENCY:
        sql_put_key(out, &record->idempotency.digest);
        return;
    case RECORD_LETTER:
        sql_put_u64(out, record->letter.number);
        return;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static enum captcha take_captcha(struct sql_in *in)
{
    return (enum captcha)sql_take_word(in, word_of_captcha, CAPTCHA_COUNT);
}

static enum class take_class(struct sql_in *in) {
    return (enum class)sql_take_word(in, word_of_class, CLASS_COUNT);
}

static enum cause take_cause(struct sql_in *in)
{
    return (enum cause)sql_take_word(in, word_of_cause, CAUSE_COUNT);
}

static enum reuse take_reuse(struct sql_in *in)
{
    return (enum reuse)sql_take_word(in, word_of_reuse, REUSE_COUNT);
}

static void take_day(struct sql_in *in, struct day_row *row)
{
    row->day = sql_take_i64(in);
    if (!store_json_read_stats(sql_take_bytes(in), &row->stats))
        in->is_bad = true;
}

static void take_tally(struct sql_in *in, struct tally_row *row, struct slice *client)
{
    row->day = sql_take_i64(in);
    *client = sql_take_bytes(in);
    row->captcha = take_captcha(in);
    if (!store_json_read_tally(sql_take_bytes(in), &row->tally))
        in->is_bad = true;
}

static void take_spent(struct sql_in *in, struct spent_row *row, struct slice *client)
{
    *client = sql_take_bytes(in);
    row->day = sql_take_i64(in);
    row->spent = sql_take_u64(in);
}

static void take_solution(struct sql_in *in, struct solution_row *row, struct slice *client)
{
    row->id = sql_take_u64(in);
    row->flight = sql_take_u64(in);
    row->attempt = sql_take_u64(in);
    sql_take_key(in, &row->key);
    *client = sql_take_bytes(in);
    row->captcha = take_captcha(in);
    row->born_wall_ms = sql_take_wall_ms(in);
    row->expires_wall_ms = sql_take_wall_ms(in);
    row->solve_ms = sql_take_u64(in);
    row->handed = sql_take_up_to(in, UINT32_MAX);
    row->attempts = (uint16_t)sql_take_up_to(in, UINT16_MAX);
    row->is_kept = sql_take_bool(in);
    row->is_shared = sql_take_bool(in);
    sql_take_string(in, row->task_id, sizeof(row->task_id));
    row->text = sql_take_blob(in);
    row->extra = sql_take_blob(in);
}

static void take_flight(struct sql_in *in, struct flight_row *row, struct slice *client)
{
    row->id = sql_take_u64(in);
    sql_take_key(in, &row->key);
    *client = sql_take_bytes(in);
    row->captcha = take_captcha(in);
    row->reuse = take_reuse(in);
    row->priority = (uint8_t)sql_take_up_to(in, UINT8_MAX);
    row->is_one_time = sql_take_bool(in);
    row->wants_rest = sql_take_bool(in);
    row->is_over = sql_take_bool(in);
    row->class = take_class(in);
    sql_take_string(in, row->code, sizeof(row->code));
    row->created_wall_ms = sql_take_wall_ms(in);
    row->params = sql_take_blob(in);
    const int64_t max_retries = sql_take_i64(in);
    row->has_max_retries = max_retries >= 0 && max_retries <= UINT16_MAX;
    row->max_retries = row->has_max_retries ? (uint16_t)max_retries : 0;
    row->retry_delay_ms = sql_take_up_to(in, UINT32_MAX);
    row->attempts = (uint16_t)sql_take_up_to(in, UINT16_MAX);
}

static void take_attempt(struct sql_in *in, struct attempt_row *row, struct slice *client)
{
    row->name = sql_take_u64(in);
    row->flight = sql_take_u64(in);
    sql_take_key(in, &row->key);
    *client = sql_take_bytes(in);
    row->captcha = take_captcha(in);
    row->reuse = take_reuse(in);
    row->is_one_time = sql_take_bool(in);
    row->wants_rest = sql_take_bool(in);
    row->is_counted = sql_take_bool(in);
    row->is_closed = sql_take_bool(in);
    row->is_solved = sql_take_bool(in);
    row->started_wall_ms = sql_take_wall_ms(in);
    sql_take_string(in, row->task_id, sizeof(row->task_id));
    row->cause_class = take_class(in);
    sql_take_string(in, row->cause, sizeof(row->cause));
    row->partial = sql_take_blob(in);
    row->number = (uint16_t)sql_take_up_to(in, UINT16_MAX);
    row->why = take_cause(in);
    row->is_resent = sql_take_bool(in);
}

static void take_request(struct sql_in *in, struct request_row *row, struct slice *client)
{
    row->id = sql_take_u64(in);
    *client = sql_take_bytes(in);
    row->flight = sql_take_u64(in);
    row->solution = sql_take_u64(in);
    row->state = (enum request_state)sql_take_word(in, word_of_state, REQUEST_STATE_COUNT);
    row->source = (enum source)sql_take_word(in, word_of_source, SOURCE_COUNT);
    row->class = take_class(in);
    sql_take_string(in, row->code, sizeof(row->code));
    row->attempts = (uint16_t)sql_take_up_to(in, UINT16_MAX);
    row->expires_wall_ms = sql_take_wall_ms(in);
    row->pingback = sql_take_blob(in);
}

static void take_idempotency(struct sql_in *in, struct idempotency_row *row, struct slice *client)
{
    sql_take_key(in, &row->digest);
    *client = sql_take_bytes(in);
    sql_take_key(in, &row->fingerprint);
    row->flight = sql_take_u64(in);
    row->solution = sql_take_u64(in);
    row->expires_wall_ms = sql_take_wall_ms(in);
}

static void take_letter(struct sql_in *in, struct letter_row *row, struct slice *client)
{
    row->number = sql_take_u64(in);
    sql_take_key(in, &row->key);
    *client = sql_take_bytes(in);
    row->captcha = take_captcha(in);
    row->class = take_class(in);
    row->reuse = take_reuse(in);
    row->priority = (uint8_t)sql_take_up_to(in, UINT8_MAX);
    row->is_one_time = sql_take_bool(in);
    row->wants_rest = sql_take_bool(in);
    row->created_wall_ms = sql_take_wall_ms(in);
    row->told = sql_take_up_to(in, UINT32_MAX);
    row->replays = (uint16_t)sql_take_up_to(in, UINT16_MAX);
    row->error = sql_take_blob(in);
    if (!store_json_read_notes(sql_take_bytes(in), row))
        in->is_bad = true;
    row->params = sql_take_blob(in);
    row->kind = (enum letter_kind)sql_take_word(in, word_of_letter_kind, LETTER_KIND_COUNT);
    row->request = sql_take_u64(in);
    row->pingback = sql_take_blob(in);
    row->text = sql_take_blob(in);
    sql_take_string(in, row->task_id, sizeof(row->task_id));
    row->extra = sql_take_blob(in);
    row->fresh_wall_ms = sql_take_wall_ms(in);
    row->retries = (uint16_t)sql_take_up_to(in, UINT16_MAX);
}

void row_take(struct sql_in *in, struct record *record, struct slice *client)
{
    *client = SLICE_NONE;
    switch (record->kind) {
    case RECORD_DAY:
        take_day(in, &record->day);
        return;
    case RECORD_TALLY:
        take_tally(in, &record->tally, client);
        return;
    case RECORD_SPENT:
        take_spent(in, &record->spent, client);
        return;
    case RECORD_SOLUTION:
        take_solution(in, &record->solution, client);
        return;
    case RECORD_FLIGHT:
        take_flight(in, &record->flight, client);
        return;
    case RECORD_ATTEMPT:
        take_attempt(in, &record->attempt, client);
        return;
    case RECORD_REQUEST:
        take_request(in, &record->request, client);
        return;
    case RECORD_IDEMPOTENCY:
        take_idempotency(in, &record->idempotency, client);
        return;
    case RECORD_LETTER:
        take_letter(in, &record->letter, client);
        return;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}
