#include "proto/books.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

void books_add(struct tally *sum, const struct tally *tally)
{
#define TALLY_ADD(field, unit, metric, text) sum->field += tally->field;
    TALLY_LIST(TALLY_ADD)
#undef TALLY_ADD
}

void books_add_page(struct stats *sum, const struct stats *page){
#define STATS_ADD(field, unit, metric, labels, text) sum->field += page->field;
    STATS_LIST(STATS_ADD)
#undef STATS_ADD
}

int64_t books_open(const struct stats *page)
{
    return (int64_t)(page->requests - page->answered_api - page->answered_dedup_wait -
                     page->answered_dedup_cache - page->answered_idempotent - page->answered_pool -
                     page->failed - page->rejected - page->detached);
}

int64_t books_open_of(const struct tally *tally)
{
    return (int64_t)(tally->requests - tally->answered - tally->deduplicated - tally->failed -
                     tally->rejected - tally->detached);
}

/* A crash loses the last second of a page: then fewer are detached than were adopted. */
static void settle(uint64_t *requests, uint64_t *detached, uint64_t adopted, int64_t left_open)
{
    const uint64_t lost = *detached + (left_open > 0 ? (uint64_t)left_open : 0);
    const uint64_t twice = adopted < lost ? adopted : lost;
    *requests -= twice;
    *detached = lost - twice;
}

void books_settle(struct stats *sum, int64_t left_open)
{
    settle(&sum->requests, &sum->detached, sum->requests_adopted, left_open);
}

void books_settle_of(struct tally *sum, int64_t left_open)
{
    settle(&sum->requests, &sum->detached, sum->requests_adopted, left_open);
}

void books_sum(struct books *books, const struct tally *tallies, uint16_t client_count)
{
    if (client_count > books->client_count) {
        free(books->by_client);
        books->by_client = calloc(client_count, sizeof *books->by_client);
        ASSERT(books->by_client != NULL);
    } else {
        memset(books->by_client, 0, client_count * sizeof *books->by_client);
    }
    books->client_count = client_count;
    memset(books->by_type, 0, sizeof books->by_type);
    for (size_t client = 0; client < client_count; client++)
        for (size_t type = 0; type < TYPE_COUNT; type++) {
            const struct tally *tally = &tallies[client * TYPE_COUNT + type];
            books_add(&books->by_client[client], tally);
            books_add(&books->by_type[type], tally);
        }
}

void books_close(struct books *books)
{
    free(books->by_client);
    *books = (struct books){.client_count = 0};
}
