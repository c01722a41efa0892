#include "store/store_letters.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Rows of one question: of a list they are small. */
#define CHUNK 64

struct store_letters_job {
    struct store_letters_job *next;
    struct store_letters *letters; /* owned */
    uint64_t *numbers;             /* owned: of all letters, the largest first */
    uint32_t number_count, number_room;
    uint32_t at; /* the number that is to be read next */
    bool has_numbers, has_more;
    uint32_t row_count; /* of the latest question */
    struct store_letter rows[CHUNK];
};

static const struct letter_order *order_of(const struct store_letters_job *job)
{
    return &job->letters->query.order;
}

/* Then it is known without a look which letters are on the page. */
static bool takes_all(const struct store_letter_query *query)
{
    const struct letter_filter *const filter = &query->order.filter;
    return query->client[0] == '\0' && filter->class == CLASS_COUNT && filter->type == TYPE_COUNT &&
           filter->code[0] == '\0';
}

struct store_letters_job *store_letters_job_new(const struct store_letter_query *query)
{
    const bool is_one = query->order.filter.number != 0;
    const uint32_t room = is_one ? 1 : query->order.limit;
    struct store_letters_job *const job = calloc(1, sizeof *job);
    ASSERT(job != NULL && room > 0);
    job->letters = calloc(1, sizeof *job->letters + room * sizeof job->letters->all[0]);
    ASSERT(job->letters != NULL);
    job->letters->query = *query;
    job->letters->query.order.limit = room;
    return job;
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void on_number(void *context, uint64_t number)
{
    struct store_letters_job *const job = context;
    if (job->number_count == job->number_room) {
        job->number_room = job->number_room == 0 ? 1024 : 2 * job->number_room;
        uint64_t *const more = realloc(job->numbers, job->number_room * sizeof *more);
        ASSERT(more != NULL);
        job->numbers = more;
    }
    job->numbers[job->number_count++] = number;
}

static int largest_first(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return (left < right) - (left > right);
}

static void sort_numbers(struct store_letters_job *job)
{
    uint32_t kept = 0;
    if (job->number_count > 1)
        qsort(job->numbers, job->number_count, sizeof *job->numbers, largest_first);
    for (uint32_t i = 0; i < job->number_count; i++)
        if (kept == 0 || job->numbers[i] != job->numbers[kept - 1])
            job->numbers[kept++] = job->numbers[i];
    job->number_count = kept;
}

static bool read_numbers(struct store_letters_job *job, struct store_backend *reader)
{
    const struct letter_order *const order = order_of(job);
    job->has_numbers = true;
    if (order->filter.number != 0) {
        on_number(job, order->filter.number);
        return true;
    }
    if (reader->driver->sharing->letter_numbers(reader, on_number, job) != STORE_DONE)
        return false;
    sort_numbers(job);
    if (!takes_all(&job->letters->query))
        return true;
    job->letters->total = job->number_count;
    while (order->cursor != 0 && job->at < job->number_count &&
           job->numbers[job->at] >= order->cursor)
        job->at++;
    const uint32_t rest = job->number_count - job->at;
    job->has_more = rest > order->limit;
    if (job->has_more)
        job->number_count = job->at + order->limit;
    return true;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* A row that makes no sense is as good as none. */
static void on_letter(void *context, uint16_t node, const struct row_value *values)
{
    struct store_letters_job *const job = context;
    struct store_letter *const letter = &job->rows[job->row_count];
    struct slice client;
    if (job->row_count == CHUNK)
        return;
    *letter = (struct store_letter){.record = {.kind = RECORD_LETTER}, .node = node};
    if (!row_from_values(values, &letter->record, &client)) {
        record_close(&letter->record);
        return;
    }
    (void)snprintf(letter->client, sizeof letter->client, "%.*s", (int)client.len,
                   client.len == 0 ? "" : client.data);
    job->row_count++;
}

static int newest_first(const void *a, const void *b)
{
    const struct store_letter *const left = a;
    const struct store_letter *const right = b;
    return largest_first(&left->record.letter.number, &right->record.letter.number);
}

static bool matches(const struct store_letter_query *query, const struct store_letter *letter)
{
    const struct letter_filter *const filter = &query->order.filter;
    const struct letter_row *const row = &letter->record.letter;
    return (query->client[0] == '\0' || strcmp(query->client, letter->client) == 0) &&
           (filter->class == CLASS_COUNT || row->class == filter->class) &&
           (filter->type == TYPE_COUNT || row->type == filter->type) &&
           (filter->code[0] == '\0' ||
            slice_equals(blob_slice(row->error), slice_from(filter->code)));
}

/* Keeps those of the page. */
static void sort_out(struct store_letters_job *job)
{
    struct store_letters *const letters = job->letters;
    const bool is_counted = !takes_all(&letters->query);
    const uint64_t cursor = order_of(job)->cursor;
    qsort(job->rows, job->row_count, sizeof job->rows[0], newest_first);
    for (uint32_t i = 0; i < job->row_count; i++) {
        struct store_letter *const letter = &job->rows[i];
        const bool is_meant = matches(&letters->query, letter);
        const bool is_later = is_meant && (cursor == 0 || letter->record.letter.number < cursor);
        letters->total += is_counted && is_meant;
        if (is_later && letters->count < order_of(job)->limit) {
            letters->all[letters->count++] = *letter;
            continue;
        }
        job->has_more |= is_later;
        record_close(&letter->record);
    }
    job->row_count = 0;
}

static bool read_rows(struct store_letters_job *job, struct store_backend *reader)
{
    const uint32_t rest = job->number_count - job->at;
    const uint32_t count = rest < CHUNK ? rest : CHUNK;
    const bool is_full = order_of(job)->filter.number != 0;
    const enum store_result result =
        count == 0 ? STORE_DONE
                   : reader->driver->sharing->letters(reader, job->numbers + job->at, count,
                                                      is_full, on_letter, job);
    job->at += count;
    if (job->row_count > 0)
        sort_out(job);
    return result == STORE_DONE;
}

bool store_letters_job_step(struct store_letters_job *job, struct store_backend *reader)
{
    struct store_letters *const letters = job->letters;
    letters->is_away = job->has_numbers ? !read_rows(job, reader) : !read_numbers(job, reader);
    if (letters->is_away)
        return true;
    if (job->at < job->number_count || !job->has_numbers)
        return false;
    /* Rows that are gone meanwhile do not end the list. */
    if (job->has_more && job->number_count > 0)
        letters->next = letters->count == order_of(job)->limit
                            ? letters->all[letters->count - 1].record.letter.number
                            : job->numbers[job->number_count - 1];
    return true;
}

/* ---- the end ----------------------------------------------------------------------------- */

const struct store_letters *store_letters_job_end(const struct store_letters_job *job)
{
    return job->letters;
}

struct store_letters_job **store_letters_job_next(struct store_letters_job *job)
{
    return &job->next;
}

void store_letters_job_free(struct store_letters_job *job)
{
    for (uint32_t i = 0; i < job->letters->count; i++)
        record_close(&job->letters->all[i].record);
    free(job->letters);
    free(job->numbers);
    free(job);
}
