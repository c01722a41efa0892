#include "store/store_books.h"

#include "base/assert.h"
#include "store/store_private.h"

#include <stdio.h>
#include <stdlib.h>

#define DAY_MS INT64_C(86400000)
#define PAGES (STATS_DAYS + 2)
#define FIRST_ROOM 16
/* A thousand clients that were active every day take some three megabytes. */
#define TEXT_MAX (16u << 20)
/* Budgets that are read at once. */
#define BUDGETS_STEP 64

static struct store_page *page_at(struct store_books *books, size_t place)
{
    return place == 0 ? &books->all : &books->days[place - 1];
}

void store_books_init(struct store_books *books, int64_t day, const struct store_members *members)
{
    *books = (struct store_books){.day = day, .node_count = members->count};
    books->nodes = calloc(members->count + 1, sizeof *books->nodes);
    ASSERT(books->nodes != NULL);
    for (uint32_t i = 0; i < members->count; i++) {
        struct store_books_node *const node = &books->nodes[i];
        node->number = members->all[i].node;
        node->is_gone = members->all[i].is_gone;
        memcpy(node->name, members->all[i].name, sizeof node->name);
    }
}

void store_books_close(struct store_books *books)
{
    for (size_t i = 0; i < PAGES; i++) {
        books_close(&page_at(books, i)->books);
        free(page_at(books, i)->client_open);
    }
    free(books->clients);
    free(books->order);
    free(books->nodes);
    free(books->budgets);
    *books = (struct store_books){.day = 0};
}

/* ---- clients ----------------------------------------------------------------------------- */

static void *grown(void *array, size_t used, size_t room, size_t size)
{
    char *const more = realloc(array, room * size);
    ASSERT(more != NULL);
    memset(more + used * size, 0, (room - used) * size);
    return more;
}

static void make_room(struct store_books *books)
{
    const uint32_t used = books->client_room;
    const uint32_t room = used == 0 ? FIRST_ROOM : 2 * used;
    if (books->client_count < used)
        return;
    books->clients = grown(books->clients, used, room, sizeof *books->clients);
    books->order = grown(books->order, used, room, sizeof *books->order);
    for (size_t i = 0; i < PAGES; i++) {
        struct store_page *const page = page_at(books, i);
        page->books.by_client =
            grown(page->books.by_client, used, room, sizeof *page->books.by_client);
        page->client_open = grown(page->client_open, used, room, sizeof *page->client_open);
    }
    books->client_room = room;
}

/* The first whose name is not before this one, in the order of names. */
static uint32_t search(const struct store_books *books, const char *name)
{
    uint32_t from = 0;
    uint32_t to = books->client_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (strcmp(books->clients[books->order[middle]], name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint32_t place_of(struct store_books *books, struct slice client)
{
    char name[STORE_NAME_MAX];
    (void)snprintf(name, sizeof name, "%.*s", (int)client.len, client.len == 0 ? "" : client.data);
    uint32_t at = search(books, name);
    if (at < books->client_count && strcmp(books->clients[books->order[at]], name) == 0)
        return books->order[at];
    if (books->client_count == STORE_BOOKS_CLIENTS)
        return STORE_BOOKS_CLIENTS - 1;
    if (books->client_count == STORE_BOOKS_CLIENTS - 1) {
        memcpy(name, STORE_BOOKS_OTHERS, sizeof STORE_BOOKS_OTHERS);
        at = search(books, name);
    }
    make_room(books);
    memmove(&books->order[at + 1], &books->order[at],
            (books->client_count - at) * sizeof *books->order);
    books->order[at] = (uint16_t)books->client_count;
    memcpy(books->clients[books->client_count], name, sizeof name);
    return books->client_count++;
}

/* ---- sums -------------------------------------------------------------------------------- */

static void add_day(struct store_books *books, struct store_books_node *node,
                    struct store_page *page, const struct stats *stats)
{
    books_add_page(&page->stats, stats);
    if (node->is_gone)
        page->left_open += books_open(stats);
    if (page != &books->all)
        return;
    books_add_page(&node->stats, stats);
    if (!node->is_gone)
        books->waiting += books_open(stats);
}

static void add_tally(struct store_page *page, bool is_gone, const struct tally_row *row,
                      uint32_t client)
{
    const int64_t open = is_gone ? books_open_of(&row->tally) : 0;
    books_add(&page->books.by_client[client], &row->tally);
    books_add(&page->books.by_type[row->type], &row->tally);
    page->client_open[client] += open;
    page->type_open[row->type] += open;
}

static void add_spent(struct store_books *books, const struct spent_row *row, struct slice client)
{
    for (uint32_t i = 0; row->day == books->day && i < books->budget_count; i++)
        if (slice_equals(client, slice_from(books->budgets[i].client)))
            books->budgets[i].used += row->spent;
}

void store_books_add(struct store_books *books, uint32_t node, const struct record *record,
                     struct slice client)
{
    if (record->kind == RECORD_SPENT) {
        add_spent(books, &record->spent, client);
        return;
    }
    const bool is_day = record->kind == RECORD_DAY;
    /* A clock that is ahead has begun the next day already. */
    const int64_t ago = books->day - (is_day ? record->day.day : record->tally.day);
    if (ago > STATS_DAYS || ago < -1)
        return;
    struct store_page *const pages[] = {&books->all, &books->days[ago < 0 ? 0 : ago]};
    const uint32_t place = is_day ? 0 : place_of(books, client);
    const struct stats stats = is_day ? record_stats(&record->day) : (struct stats){0};
    for (size_t i = 0; i < 2; i++) {
        if (is_day)
            add_day(books, &books->nodes[node], pages[i], &stats);
        else
            add_tally(pages[i], books->nodes[node].is_gone, &record->tally, place);
    }
}

void store_books_settle(struct store_books *books)
{
    for (size_t i = 0; i < PAGES; i++) {
        struct store_page *const page = page_at(books, i);
        page->books.client_count = (uint16_t)books->client_count;
        books_settle(&page->stats, page->left_open);
        for (uint32_t client = 0; client < books->client_count; client++)
            books_settle_of(&page->books.by_client[client], page->client_open[client]);
        for (size_t type = 0; type < TYPE_COUNT; type++)
            books_settle_of(&page->books.by_type[type], page->type_open[type]);
    }
    if (books->waiting < 0)
        books->waiting = 0;
}

/* ---- the thread's job -------------------------------------------------------------------- */

struct store_books_job {
    struct store_books books;
    uint32_t next;        /* node to be read */
    uint32_t next_budget; /* then */
    bool has_failed;
    struct store_books_wish wish; /* the books have its budgets */
    int64_t wall_ms;
    struct buf text;
};

struct store_books_job *store_books_job_new(const struct store *store,
                                            const struct store_books_wish *take_wish)
{
    struct store_books_job *const job = calloc(1, sizeof *job);
    ASSERT(job != NULL);
    job->wish = *take_wish;
    job->wall_ms = clocks_read().wall_ms;
    store_books_init(&job->books, job->wall_ms / DAY_MS, store_pulse_members(store));
    job->books.budgets = take_wish->budgets;
    job->books.budget_count = take_wish->budget_count;
    buf_init(&job->text, TEXT_MAX);
    return job;
}

/* A row that makes no sense is as good as none. */
static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    struct store_books_job *const job = context;
    struct record record = {.kind = kind};
    struct slice client;
    if (row_from_values(values, &record, &client))
        store_books_add(&job->books, job->next, &record, client);
    record_close(&record);
}

static enum store_result sum_budgets(struct store_books_job *job, struct store_backend *reader)
{
    const uint32_t rest = job->books.budget_count - job->next_budget;
    const uint32_t count = rest < BUDGETS_STEP ? rest : BUDGETS_STEP;
    struct store_budget *const first = &job->books.budgets[job->next_budget];
    job->next_budget += count;
    return reader->driver->sharing->sum_drawn(reader, job->books.day, first, count);
}

bool store_books_job_step(struct store_books_job *job, struct store_backend *reader)
{
    const struct store_sharing *const sharing = reader->driver->sharing;
    if (job->next < job->books.node_count) {
        const uint16_t node = job->books.nodes[job->next].number;
        job->has_failed = sharing->books(reader, node, job->wall_ms, on_values, job) != STORE_DONE;
        job->next++;
    } else if (job->next_budget < job->books.budget_count) {
        job->has_failed = sum_budgets(job, reader) != STORE_DONE;
    }
    if (job->has_failed)
        return true;
    if (job->next < job->books.node_count || job->next_budget < job->books.budget_count)
        return false;
    store_books_settle(&job->books);
    job->wish.write(&job->text, &job->books, job->wish.flags);
    return true;
}

struct slice store_books_job_text(const struct store_books_job *job)
{
    return job->has_failed || job->text.is_full ? SLICE_NONE : buf_slice(&job->text);
}

void store_books_job_free(struct store_books_job *job)
{
    if (job == NULL)
        return;
    store_books_close(&job->books);
    buf_close(&job->text);
    free(job);
}
