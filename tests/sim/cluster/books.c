/* The books of all nodes add up, by the rule by which the program sums them (src/proto/books.c). */
#include "proto/books.h"
#include "cluster.h"

void books_keep(struct cluster *c, uint32_t place)
{
    struct store *store = &c->store;
    for (size_t i = 0; i < store->row_count && !c->plan.is_early; i++) {
        struct row *row = &store->rows[i];
        if (row->record.kind <= RECORD_SPENT && store->runs[row->owner].place == place)
            row->owner = c->nodes[place].run;
    }
}

void books_note_adopted(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    for (size_t i = 0; i < node->parcel.record_count; i++)
        node->adopted_requests += node->parcel.records[i].kind == RECORD_REQUEST;
}

bool books_are_closed(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    const struct stats *stats = engine_stats(node->engine);
    if (c->plan.is_early || memcmp(stats, &node->closed, sizeof *stats) == 0)
        return true;
    node->closed = *stats;
    engine_close_books(node->engine);
    struct event event = {.kind = EVENT_TICK, .random = 1};
    node_step(c, place, &event);
    return false;
}

void books_note_written(struct cluster *c, uint32_t place, uint64_t asked)
{
    c->nodes[place].asked_written = asked;
}

void books_note_end(struct cluster *c, uint32_t place)
{
    const struct node *node = &c->nodes[place];
    /* What it adopted may have been on its way: after a restart that counts as its own. */
    c->has_unclosed |= node->has_untold;
    c->asked_unwritten += node->asked - node->asked_written + node->adopted_requests;
}

static bool is_exact(const struct cluster *c)
{
    return c->crashes == 0 && c->fences == 0 && c->losses == 0 && !c->has_unclosed;
}

static void check_requests(const struct cluster *c, const struct stats *sum)
{
    const uint64_t lost = 2 * c->asked_unwritten;
    tell(c, "asked %llu, in the books %llu, adopted %llu, detached %llu, unwritten %llu",
         (unsigned long long)c->asked, (unsigned long long)sum->requests,
         (unsigned long long)sum->requests_adopted, (unsigned long long)sum->detached,
         (unsigned long long)c->asked_unwritten);
    CHECK(c, sum->requests <= c->asked + lost && sum->requests + lost >= c->asked);
    CHECK(c, !is_exact(c) || sum->requests == c->asked);
}

/* What the vendor accepted, as far as anybody could hear of it. */
static void check_accepted(const struct cluster *c, const struct stats *sum)
{
    uint64_t accepted = 0;
    for (size_t i = 0; i < c->submit_count; i++)
        accepted += c->submits[i].is_accepted;
    tell(c, "accepted %llu, told %llu, in the books %llu and %llu", (unsigned long long)accepted,
         (unsigned long long)c->accepted, (unsigned long long)sum->submits_accepted,
         (unsigned long long)sum->submits_proven);
    CHECK(c, sum->submits_accepted + sum->submits_proven <= accepted);
    CHECK(c, !is_exact(c) || sum->submits_accepted >= c->accepted);
}

void check_books(struct cluster *c)
{
    struct stats sum = {0};
    /* Who starts again after midnight balances the page of the new day only. */
    if (c->plan.is_early || c->losses > 0 || c->plan.day_ms != 0)
        return;
    for (size_t i = 0; i < c->store.row_count; i++) {
        const struct record *record = &c->store.rows[i].record;
        if (record->kind != RECORD_DAY)
            continue;
        const struct stats page = record_stats(&record->day);
        books_add_page(&sum, &page);
    }
    /* All nodes run, so nothing is left open. */
    const int64_t open = books_open(&sum);
    books_settle(&sum, 0);
    check_requests(c, &sum);
    check_accepted(c, &sum);
    CHECK(c, open == 0);
}
