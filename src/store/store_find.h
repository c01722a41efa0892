/* Looks for requests of other gateways in a shared store, on a thread and a connection of its own: nobody who asks
 * waits behind a batch. */
#ifndef SOLVEGATE_STORE_STORE_FIND_H
#define SOLVEGATE_STORE_STORE_FIND_H

#include "store/store_books.h"
#include "store/store_letters.h"

#include <solvegate/finding.h>

struct store_finder;

/* A request that is looked for, and the rows about it, all as they were at one moment. */
struct store_sought {
    struct find find;
    char client[STORE_NAME_MAX]; /* only a request of the client of this name is found */
    /* Set by the driver. */
    bool has_request, has_flight, has_solution;
    struct record request; /* owned, as are the next two */
    struct record flight;  /* the one that it waits for, without its parameters */
    /* What its flight or the request itself says, if the same node has both; of one that only one request may
     * have, only if it was handed out. */
    struct record solution;
    bool is_solving; /* the vendor works on an attempt of the flight */
};

/* Looks for another gateway's request; ends in on_found. Never blocks. */
void store_find(struct store *store, const struct find *find);

/* Reads the books of all that the latest beat named; ends in on_books. One at a time; never blocks. */
void store_read_books(struct store *store, const struct store_books_wish *take_wish);

/* Reads letters of all gateways; ends in on_letters. False if too many wait already. Never blocks. */
bool store_read_letters(struct store *store, const struct store_letter_query *query);

/* What the rows say. The solution is borrowed. */
void store_found(const struct store_sought *sought, struct found *found);
void store_sought_close(struct store_sought *sought);

/* For the port itself, all but the second from the loop: starts the thread if the store is shared; ends it and waits
 * for that, from the writer; tells the handlers what it found; frees it. */
void store_finder_start(struct store *store);
void store_finder_end(struct store *store);
void store_finder_tell(struct store *store);
void store_finder_free(struct store *store);

#endif
