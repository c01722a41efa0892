/* The books of all gateways that share a store, as one; those of the dead are there until they expire. */
#ifndef SOLVEGATE_STORE_STORE_BOOKS_H
#define SOLVEGATE_STORE_STORE_BOOKS_H

#include "proto/books.h"
#include "store/store_driver.h"

/* There is room for so many clients; all others are one. */
#define STORE_BOOKS_CLIENTS 4096
#define STORE_BOOKS_OTHERS "(others)"

/* A day, or all days. */
struct store_page {
    struct stats stats;
    struct books books;
    /* What gateways that were adopted left open: of all, by client and by type. */
    int64_t left_open;
    int64_t *client_open; /* owned */
    int64_t type_open[TYPE_COUNT];
};

struct store_books_node {
    uint16_t number;
    bool is_gone;       /* it was adopted */
    struct stats stats; /* of all days, as it wrote them */
    char name[STORE_NAME_MAX];
};

struct store_books {
    int64_t day;                            /* today, UTC */
    struct store_page all;                  /* of the days below together */
    struct store_page days[STATS_DAYS + 1]; /* from today back */
    int64_t waiting; /* requests that are open at gateways that were not adopted */
    uint32_t client_count, client_room;
    char (*clients)[STORE_NAME_MAX]; /* owned, by place */
    uint16_t *order;                 /* owned: their places in the order of their names */
    uint32_t node_count;
    struct store_books_node *nodes; /* owned */
    uint32_t budget_count;
    struct store_budget *budgets; /* owned */
};

/* Borrows the members. */
void store_books_init(struct store_books *books, int64_t day, const struct store_members *members);
void store_books_close(struct store_books *books);
/* Adds a RECORD_DAY, RECORD_TALLY or RECORD_SPENT of the node at this place. */
void store_books_add(struct store_books *books, uint32_t node, const struct record *record,
                     struct slice client);
/* When all are added: makes the sums balance. */
void store_books_settle(struct store_books *books);

/* Writes the books as a text, on the reader's thread: it must not touch anything else. */
typedef void store_books_writer(struct buf *out, const struct store_books *books, unsigned flags);

/* What is read, and for whom; the budgets have clients and limits, and are owned. */
struct store_books_wish {
    store_books_writer *write;
    unsigned flags;
    uint32_t budget_count;
    struct store_budget *budgets;
};

/* For the reader's thread: a job, and one step of it, which reads the books of one node, or some budgets; true at its
 * end. Takes what the wish owns. */
struct store_books_job;
struct store_books_job *store_books_job_new(const struct store *store,
                                            const struct store_books_wish *take_wish);
bool store_books_job_step(struct store_books_job *job, struct store_backend *reader);
/* The text; not given if the store could not be read. */
struct slice store_books_job_text(const struct store_books_job *job);
void store_books_job_free(struct store_books_job *job);

#endif
