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
