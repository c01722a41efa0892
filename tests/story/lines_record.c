#include "lines.h"

#include "base/assert.h"

#include <solvegate/words.h>

static void add_code(struct buf *log, const char *code, enum error_class class)
{
    if (code[0] != '\0')
        buf_addf(log, " %s (%s)", code, error_class_name(class));
}

static void add_solution(struct buf *log, const struct solution_row *row, bool is_drop)
{
    if (is_drop) {
        buf_addf(log, "solution");
        return;
    }
    buf_addf(log, "solution %s \"%s\" task %s", name_of_key(&row->key), row->text->data,
             row->task_id);
    if (row->is_kept)
        buf_addf(log, " kept");
    if (row->handed > 0)
        buf_addf(log, " handed %u", row->handed);
}

static void add_flight(struct buf *log, const struct flight_row *row, bool is_drop)
{
    buf_addf(log, "flight");
    if (is_drop)
        return;
    buf_addf(log, " %s", name_of_key(&row->key));
    if (row->is_over)
        add_code(log, row->code, row->class);
}

static void add_attempt(struct world *world, const struct attempt_row *row, bool is_drop)
{
    struct buf *log = &world->log;
    buf_addf(log, "attempt a%zu", number_of_attempt(world, row->name));
    if (is_drop)
        return;
    if (row->task_id[0] != '\0')
        buf_addf(log, " task %s", row->task_id);
    if (row->is_counted && row->task_id[0] == '\0')
        buf_addf(log, " unheard");
    if (row->is_closed)
        buf_addf(log, row->is_solved ? " solved" : " failed");
    if (row->cause[0] != '\0') {
        buf_addf(log, " because");
        add_code(log, row->cause, row->cause_class);
    }
}

static void add_request(struct world *world, const struct request_row *row, bool is_drop)
{
    struct buf *log = &world->log;
    buf_addf(log, "request r%zu", number_of_request(world, row->id));
    if (is_drop)
        return;
    buf_addf(log, " %s", row->flight != 0 ? "waits" : request_state_name(row->state));
    add_code(log, row->code, row->class);
    if (row->pingback != NULL)
        buf_addf(log, " tells %s", row->pingback->data);
}

static void add_idempotency(struct buf *log, const struct idempotency_row *row, bool is_drop)
{
    buf_addf(log, "idempotency %s", name_of_key(&row->digest));
    if (!is_drop)
        buf_addf(log, " of a %s", row->flight != 0 ? "flight" : "solution");
}

static void add_letter(struct buf *log, const struct letter_row *row, bool is_drop)
{
    buf_addf(log, "letter %llu", (unsigned long long)row->number);
    if (!is_drop)
        buf_addf(log, " %s (%s)", row->error->data, error_class_name(row->class));
}

void lines_add_record(struct world *world, const struct record *record)
{
    struct buf *log = &world->log;
    if (record->is_drop)
        buf_addf(log, "drop ");
    switch (record->kind) {
    case RECORD_DAY:
        buf_addf(log, "books");
        return;
    case RECORD_TALLY:
        buf_addf(log, "tally %s", type_name(record->tally.type));
        return;
    case RECORD_SPENT:
        buf_addf(log, "spent %llu", (unsigned long long)record->spent.spent);
        return;
    case RECORD_SOLUTION:
        add_solution(log, &record->solution, record->is_drop);
        return;
    case RECORD_FLIGHT:
        add_flight(log, &record->flight, record->is_drop);
        return;
    case RECORD_ATTEMPT:
        add_attempt(world, &record->attempt, record->is_drop);
        return;
    case RECORD_REQUEST:
        add_request(world, &record->request, record->is_drop);
        return;
    case RECORD_IDEMPOTENCY:
        add_idempotency(log, &record->idempotency, record->is_drop);
        return;
    case RECORD_LETTER:
        add_letter(log, &record->letter, record->is_drop);
        return;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}
