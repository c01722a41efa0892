#include "store_expect.h"

#include "../record_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void on_row(void *context, const struct record *record)
{
    struct expectation *const wanted = context;
    const int64_t name = (int64_t)record_number(record);
    if (wanted->loaded > 0 && record->kind < wanted->latest)
        wanted->mistake = "the kinds are out of order";
    if (wanted->loaded > 0 && record->kind == wanted->latest && name <= wanted->latest_name &&
        record->kind != RECORD_IDEMPOTENCY)
        wanted->mistake = "the names are out of order";
    wanted->latest = record->kind;
    wanted->latest_name = name;
    wanted->loaded++;
    for (size_t i = 0; i < wanted->count; i++) {
        const struct record *const other = &wanted->records[i];
        if (other->kind != record->kind || record_number(other) != record_number(record))
            continue;
        const char *const difference = world_difference(other, record);
        if (difference != NULL)
            wanted->mistake = difference;
        wanted->is_seen[i] = true;
        return;
    }
    wanted->mistake = "a row came that should not be there";
}

void expect_load(struct store_world *world, struct expectation *wanted)
{
    wanted->loaded = 0;
    memset(wanted->is_seen, 0, sizeof(wanted->is_seen));
    assert_int_equal(store_load(world->store, &world->clocks, on_row, wanted), 0);
    if (wanted->mistake != NULL)
        fail_msg("%s", wanted->mistake);
    assert_int_equal(wanted->loaded, wanted->count);
    for (size_t i = 0; i < wanted->count; i++)
        assert_true(wanted->is_seen[i]);
}

void expect_forget(struct expectation *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        record_close(&wanted->records[i]);
    *wanted = (struct expectation){0};
}

/* Names from both ends of their range. */
static uint64_t name_at(enum record_kind kind, size_t i)
{
    if (kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT)
        return i;
    return i % 2 == 0 ? i + 1 : UINT64_MAX - i;
}

static size_t rows_of(unsigned kind)
{
    return kind == RECORD_SPENT ? WORLD_CLIENTS : ROWS_PER_KIND;
}

void expect_append(struct store_world *world, struct expectation *wanted)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        for (size_t i = 0; i < rows_of(kind); i++) {
            const enum record_kind k = (enum record_kind)kind;
            struct record record = world_record(world, k, name_at(k, i));
            wanted->records[wanted->count++] = world_share(&record);
            world_append(world, &record);
        }
    }
}

struct record expect_drop_of(const struct record *record)
{
    struct record dropped = {.kind = record->kind, .is_drop = true};
    switch (record->kind) {
    case RECORD_DAY:
        dropped.day.day = record->day.day;
        break;
    case RECORD_TALLY:
        dropped.tally = (struct tally_row){
            .day = record->tally.day, .client = record->tally.client, .type = record->tally.type};
        break;
    case RECORD_SPENT:
        dropped.spent.client = record->spent.client;
        break;
    case RECORD_SOLUTION:
        dropped.solution.id = record->solution.id;
        break;
    case RECORD_FLIGHT:
        dropped.flight.id = record->flight.id;
        break;
    case RECORD_ATTEMPT:
        dropped.attempt.name = record->attempt.name;
        break;
    case RECORD_REQUEST:
        dropped.request.id = record->request.id;
        break;
    case RECORD_IDEMPOTENCY:
        dropped.idempotency.digest = record->idempotency.digest;
        break;
    case RECORD_LETTER:
        dropped.letter.number = record->letter.number;
        break;
    case RECORD_KIND_COUNT:
        break;
    }
    return dropped;
}

void expect_drop(struct store_world *world, const struct record *record)
{
    struct record dropped = expect_drop_of(record);
    world_append(world, &dropped);
}
