/* Dead letters of all gateways that share a store, as its rows tell them: a page of them, or one. */
#ifndef SOLVEGATE_STORE_STORE_LETTERS_H
#define SOLVEGATE_STORE_STORE_LETTERS_H

#include "store/store_driver.h"

#include <solvegate/letter_order.h>

/* So many may wait at a time. */
#define STORE_LETTER_QUERIES 16

struct store_letter_query {
    /* A page of those that its filter selects; or the letter of its filter's number, whatever is to be done with it.
     * Clients are meant by name. */
    struct letter_order order;
    char client[STORE_NAME_MAX]; /* of the filter; "": any */
    char into[STORE_NAME_MAX];   /* for whoever asks: it comes back with the answer */
};

struct store_letter {
    struct record record; /* owned; with its bytes only if it was asked for by number */
    uint16_t node;        /* that has it */
    char client[STORE_NAME_MAX];
};

struct store_letters {
    struct store_letter_query query;
    bool is_away;              /* the store could not be read */
    uint64_t total;            /* letters that match, on all pages */
    uint64_t next;             /* the cursor of the next page, or 0 */
    uint32_t count;            /* on this page */
    struct store_letter all[]; /* owned: from the largest number down, which is the newest first */
};

/* For the reader's thread: a job, and one step of it, which is one question to the store; true at its end. */
struct store_letters_job;
struct store_letters_job *store_letters_job_new(const struct store_letter_query *query);
bool store_letters_job_step(struct store_letters_job *job, struct store_backend *reader);
const struct store_letters *store_letters_job_end(const struct store_letters_job *job);
void store_letters_job_free(struct store_letters_job *job);
/* Jobs in a list: the one that follows. */
struct store_letters_job **store_letters_job_next(struct store_letters_job *job);

#endif
