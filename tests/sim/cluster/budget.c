/* Budgets: what the modelled store decides about units, and that nobody spends what is not there. */
#include "cluster.h"

/* Longer than any submit of these worlds takes. */
#define ON_ITS_WAY_MS 66000

static struct share *share_of(struct cluster *c, uint32_t place, const struct draw *draw)
{
    struct store *store = &c->store;
    for (size_t i = 0; i < store->share_count; i++) {
        struct share *share = &store->shares[i];
        if (share->client == draw->client && share->day == draw->day && share->place == place)
            return share;
    }
    CHECK(c, store->share_count < SHARES_MAX);
    struct share *share = &store->shares[store->share_count++];
    *share = (struct share){.client = draw->client, .day = draw->day, .place = place};
    return share;
}

/* An earlier run of the same node is over: what it had is not given out again. */
static void begin_run(struct share *share, node_id run, uint64_t before)
{
    if (share->run == run)
        return;
    share->run = run;
    share->earlier += share->held;
    share->held = 0;
    if (share->earlier < before)
        share->earlier = before;
}

void budget_apply(struct cluster *c, uint32_t place, const struct draw *draw, struct drawn *drawn)
{
    struct share *own = share_of(c, place, draw);
    begin_run(own, c->nodes[place].run, draw->before);
    uint64_t others = own->earlier;
    for (size_t i = 0; i < c->store.share_count; i++) {
        const struct share *share = &c->store.shares[i];
        if (share != own && share->client == draw->client && share->day == draw->day)
            others += share->earlier + share->held;
    }
    *drawn = (struct drawn){.client = draw->client, .number = draw->number};
    budget_decide(draw, others, drawn);
    own->held = drawn->held;
    c->draws++;
    tell(c, "n%u draws: used %llu need %llu block %llu, others %llu: has %llu, left %llu", place,
         (unsigned long long)draw->used, (unsigned long long)draw->need,
         (unsigned long long)draw->block, (unsigned long long)others,
         (unsigned long long)drawn->held, (unsigned long long)drawn->left);
}

int64_t today(const struct cluster *c)
{
    return wall_ms(c) / DAY_MS;
}

/* A submit counts on the day on which it was decided. */
void check_budget(struct cluster *c, const struct submit *submit)
{
    uint64_t accepted = 0;
    for (size_t i = 0; i < c->submit_count; i++)
        accepted += c->submits[i].is_accepted && c->submits[i].day == submit->day;
    CHECK(c, accepted <= c->plan.budget);
}

/* One that was on its way at midnight counts on both days. */
static bool counts_today(const struct cluster *c, const struct submit *submit)
{
    const int64_t issued_wall_ms = wall_ms(c) - (int64_t)(c->now_ms - submit->issued_ms);
    return (issued_wall_ms + ON_ITS_WAY_MS) / DAY_MS >= today(c);
}

/* When nobody died or ended without the store, what was not used went back. */
void check_units_are_back(struct cluster *c)
{
    uint64_t held = 0;
    uint64_t issued = 0;
    if (c->crashes > 0 || c->adoptions > 0 || c->fences > 0)
        return;
    for (size_t i = 0; i < c->store.share_count; i++)
        held += c->store.shares[i].day == today(c) ? c->store.shares[i].held : 0;
    for (size_t i = 0; i < c->submit_count; i++)
        issued += counts_today(c, &c->submits[i]);
    CHECK(c, held <= issued);
}
