#include "store/store_find.h"

#include "base/assert.h"
#include "store/store_private.h"

#include <stdio.h>
#include <stdlib.h>

/* Looked for in one round trip, and told in a turn of the loop. */
#define BATCH_MAX 256
/* A store that could not be reached is left alone for a moment. */
#define PAUSE_NS UINT64_C(200000000)

struct item {
    struct item *next;
    struct store_sought sought;
    enum store_result result;
};

struct items {
    struct item *first, *last;
};

struct store_finder {
    struct store *store;
    struct store_backend *backend; /* owned: the thread's */
    uv_thread_t thread;
    bool is_joined;

    /* Shared, under the finder's own mutex. */
    uv_mutex_t mutex;
    uv_cond_t work;
    struct items asked, answered;
    struct store_books_job *job; /* owned; the thread's until it is done; NULL: there is none */
    bool is_job_done;
    struct store_letters_job *letters;      /* owned: the first one is the thread's */
    struct store_letters_job *letters_done; /* owned */
    uint32_t letters_count;                 /* of both */
    bool must_end;

    /* The thread's. */
    uint64_t failed_at_ns; /* 0: the store was reached the last time */
    struct store_sought batch[BATCH_MAX];
};

static void push(struct items *items, struct item *item)
{
    item->next = NULL;
    if (items->first == NULL)
        items->first = item;
    else
        items->last->next = item;
    items->last = item;
}

static struct item *pop(struct items *items)
{
    struct item *const item = items->first;
    if (item != NULL)
        items->first = item->next;
    return item;
}

void store_sought_close(struct store_sought *sought)
{
    if (sought->has_request)
        record_close(&sought->request);
    if (sought->has_flight)
        record_close(&sought->flight);
    if (sought->has_solution)
        record_close(&sought->solution);
    sought->has_request = sought->has_flight = sought->has_solution = false;
}

static void drop_all(struct items *items)
{
    for (struct item *item; (item = pop(items)) != NULL;) {
        store_sought_close(&item->sought);
        free(item);
    }
}

/* ---- what the rows say ------------------------------------------------------------------- */

static void fail(struct found *found, enum error_class class, const char *code)
{
    found->result = FOUND_FAILED;
    found->class = class;
    (void)snprintf(found->code, sizeof found->code, "%s", code);
}

/* The name by which the flight's end is published. */
static void wait_for(struct found *found, const struct flight_row *flight)
{
    found->result = FOUND_WAITING;
    found->has_name = flight->reuse == REUSE_SHARED || flight->has_idempotency;
    found->name = flight->reuse == REUSE_SHARED ? flight->key : flight->idempotency;
    found->attempts = flight->attempts;
}

void store_found(const struct store_sought *sought, struct found *found)
{
    const struct request_row *const request = &sought->request.request;
    const struct flight_row *const flight = &sought->flight.flight;
    *found = (struct found){.id = sought->find.id,
                            .client = sought->find.client,
                            .ticket = sought->find.ticket,
                            .result = FOUND_UNKNOWN,
                            .is_solving = sought->is_solving};
    if (!sought->has_request)
        return;
    found->source = request->source;
    found->attempts = request->attempts;
    if (request->state == REQUEST_FAILED) {
        fail(found, request->class, request->code);
    } else if (sought->has_solution) {
        found->result = FOUND_SOLVED;
        found->solution = &sought->solution.solution;
    } else if (sought->has_flight && flight->is_over) {
        found->attempts = flight->attempts;
        fail(found, flight->class, flight->code);
    } else if (sought->has_flight) {
        wait_for(found, flight);
    }
}

/* ---- the thread -------------------------------------------------------------------------- */

static enum store_result ask(struct store_finder *finder, uint32_t count)
{
    struct store_backend *const backend = finder->backend;
    if (finder->failed_at_ns != 0 && uv_hrtime() - finder->failed_at_ns < PAUSE_NS)
        return STORE_RETRY;
    const enum store_result result = backend->driver->sharing->find(backend, finder->batch, count);
    finder->failed_at_ns = result == STORE_DONE ? 0 : uv_hrtime();
    return result;
}

/* False: the thread must end. */
static bool take(struct store_finder *finder, struct items *taken, uint32_t *count)
{
    uv_mutex_lock(&finder->mutex);
    while (finder->asked.first == NULL && !finder->must_end && finder->letters == NULL &&
           (finder->job == NULL || finder->is_job_done))
        uv_cond_wait(&finder->work, &finder->mutex);
    while (*count < BATCH_MAX && finder->asked.first != NULL) {
        struct item *const item = pop(&finder->asked);
        finder->batch[(*count)++] = item->sought;
        push(taken, item);
    }
    const bool must_end = finder->must_end;
    uv_mutex_unlock(&finder->mutex);
    return !must_end;
}

static void give_back(struct store_finder *finder, struct items *taken, enum store_result result)
{
    uint32_t place = 0;
    uv_mutex_lock(&finder->mutex);
    for (struct item *item; (item = pop(taken)) != NULL;) {
        item->sought = finder->batch[place++];
        item->result = result;
        push(&finder->answered, item);
    }
    uv_mutex_unlock(&finder->mutex);
    (void)uv_async_send(&finder->store->wake);
}

/* The books of one node, so that nobody who looks for a request waits for all of them. */
static void go_on_with_books(struct store_finder *finder)
{
    uv_mutex_lock(&finder->mutex);
    struct store_books_job *const job = finder->is_job_done ? NULL : finder->job;
    uv_mutex_unlock(&finder->mutex);
    if (job == NULL || !store_books_job_step(job, finder->backend))
        return;
    uv_mutex_lock(&finder->mutex);
    finder->is_job_done = true;
    uv_mutex_unlock(&finder->mutex);
    (void)uv_async_send(&finder->store->wake);
}

static void append_job(struct store_letters_job **list, struct store_letters_job *job)
{
    while (*list != NULL)
        list = store_letters_job_next(*list);
    *list = job;
    *store_letters_job_next(job) = NULL;
}

static struct store_letters_job *take_job(struct store_letters_job **list)
{
    struct store_letters_job *const job = *list;
    if (job != NULL)
        *list = *store_letters_job_next(job);
    return job;
}

/* One question, likewise. */
static void go_on_with_letters(struct store_finder *finder)
{
    uv_mutex_lock(&finder->mutex);
    struct store_letters_job *const job = finder->letters;
    uv_mutex_unlock(&finder->mutex);
    if (job == NULL || !store_letters_job_step(job, finder->backend))
        return;
    uv_mutex_lock(&finder->mutex);
    append_job(&finder->letters_done, take_job(&finder->letters));
    uv_mutex_unlock(&finder->mutex);
    (void)uv_async_send(&finder->store->wake);
}

static void run(void *context)
{
    struct store_finder *const finder = context;
    for (;;) {
        struct items taken = {0};
        uint32_t count = 0;
        if (!take(finder, &taken, &count)) {
            drop_all(&taken);
            return;
        }
        if (count > 0)
            give_back(finder, &taken, ask(finder, count));
        go_on_with_books(finder);
        go_on_with_letters(finder);
    }
}

/* ---- the loop ---------------------------------------------------------------------------- */

void store_find(struct store *store, const struct find *find)
{
    struct store_finder *const finder = store->finder;
    /* At the very end of a shutdown nobody looks any more. */
    if (finder == NULL)
        return;
    struct item *const item = calloc(1, sizeof *item);
    ASSERT(item != NULL);
    item->sought.find = *find;
    (void)snprintf(item->sought.client, sizeof item->sought.client, "%s",
                   store->names.name_of(store->names.context, find->client));
    uv_mutex_lock(&finder->mutex);
    push(&finder->asked, item);
    uv_mutex_unlock(&finder->mutex);
    uv_cond_signal(&finder->work);
}

void store_read_books(struct store *store, const struct store_books_wish *take_wish)
{
    struct store_finder *const finder = store->finder;
    if (finder == NULL) {
        free(take_wish->budgets);
        return;
    }
    struct store_books_job *const job = store_books_job_new(store, take_wish);
    uv_mutex_lock(&finder->mutex);
    ASSERT(finder->job == NULL);
    finder->job = job;
    finder->is_job_done = false;
    uv_mutex_unlock(&finder->mutex);
    uv_cond_signal(&finder->work);
}

bool store_read_letters(struct store *store, const struct store_letter_query *query)
{
    struct store_finder *const finder = store->finder;
    if (finder == NULL)
        return false;
    uv_mutex_lock(&finder->mutex);
    const bool has_room = finder->letters_count < STORE_LETTER_QUERIES;
    if (has_room) {
        append_job(&finder->letters, store_letters_job_new(query));
        finder->letters_count++;
    }
    uv_mutex_unlock(&finder->mutex);
    uv_cond_signal(&finder->work);
    return has_room;
}

void store_finder_start(struct store *store)
{
    if (store->backend->node == 0)
        return;
    struct store_finder *const finder = calloc(1, sizeof *finder);
    ASSERT(finder != NULL);
    finder->store = store;
    finder->backend = store->backend->driver->sharing->make_pulse(store->backend);
    ASSERT(uv_mutex_init(&finder->mutex) == 0 && uv_cond_init(&finder->work) == 0);
    store->finder = finder;
    ASSERT(uv_thread_create(&finder->thread, run, finder) == 0);
}

void store_finder_end(struct store *store)
{
    struct store_finder *const finder = store->finder;
    if (finder == NULL || finder->is_joined)
        return;
    uv_mutex_lock(&finder->mutex);
    finder->must_end = true;
    uv_mutex_unlock(&finder->mutex);
    uv_cond_signal(&finder->work);
    ASSERT(uv_thread_join(&finder->thread) == 0);
    store_hang_up(finder->backend);
    finder->is_joined = true;
}

static void tell(const struct store *store, const struct item *item)
{
    struct found found;
    store_found(&item->sought, &found);
    if (item->result != STORE_DONE)
        found.result = FOUND_UNAVAILABLE;
    if (store->handlers.on_found != NULL)
        store->handlers.on_found(store->handlers.context, &found);
}

static void tell_books(struct store *store)
{
    struct store_finder *const finder = store->finder;
    struct store_books_job *job = NULL;
    uv_mutex_lock(&finder->mutex);
    if (finder->is_job_done) {
        job = finder->job;
        finder->job = NULL;
        finder->is_job_done = false;
    }
    uv_mutex_unlock(&finder->mutex);
    if (job != NULL && store->handlers.on_books != NULL)
        store->handlers.on_books(store->handlers.context, store_books_job_text(job));
    store_books_job_free(job);
}

static void tell_letters(struct store *store)
{
    struct store_finder *const finder = store->finder;
    for (;;) {
        uv_mutex_lock(&finder->mutex);
        struct store_letters_job *const job = take_job(&finder->letters_done);
        finder->letters_count -= job != NULL;
        uv_mutex_unlock(&finder->mutex);
        if (job == NULL)
            return;
        if (store->handlers.on_letters != NULL)
            store->handlers.on_letters(store->handlers.context, store_letters_job_end(job));
        store_letters_job_free(job);
    }
}

void store_finder_tell(struct store *store)
{
    struct store_finder *const finder = store->finder;
    if (finder == NULL)
        return;
    tell_books(store);
    tell_letters(store);
    bool has_more = true;
    for (unsigned i = 0; i < BATCH_MAX && has_more; i++) {
        uv_mutex_lock(&finder->mutex);
        struct item *const item = pop(&finder->answered);
        uv_mutex_unlock(&finder->mutex);
        has_more = item != NULL;
        if (item == NULL)
            continue;
        tell(store, item);
        store_sought_close(&item->sought);
        free(item);
    }
    if (has_more && !uv_is_closing((uv_handle_t *)&store->wake))
        (void)uv_async_send(&store->wake);
}

void store_finder_free(struct store *store)
{
    struct store_finder *const finder = store->finder;
    if (finder == NULL)
        return;
    ASSERT(finder->is_joined);
    store->finder = NULL;
    drop_all(&finder->asked);
    drop_all(&finder->answered);
    store_books_job_free(finder->job);
    for (struct store_letters_job *job; (job = take_job(&finder->letters)) != NULL;)
        store_letters_job_free(job);
    for (struct store_letters_job *job; (job = take_job(&finder->letters_done)) != NULL;)
        store_letters_job_free(job);
    finder->backend->driver->close(finder->backend);
    uv_cond_destroy(&finder->work);
    uv_mutex_destroy(&finder->mutex);
    free(finder);
}
