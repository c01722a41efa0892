#include "watched.h"

static bool may_watch(const struct plan *plan)
{
    /* The slow model knows no shadow mode; a pool whose client is watched is not refilled; and clients that come and go
     * take their letters with them. */
    return !plan->has_reference && plan->size != SIZE_LARGE && plan->strength[FAULT_POOL] == 0 &&
           plan->strength[FAULT_CLIENTS] == 0;
}

static void watch(struct client_options *client)
{
    client->is_shadow = true;
    client->budget_per_day = UINT64_MAX;
}

/* From numbers of its own, as everything that came later. */
void watched_draw(struct plan *plan)
{
    struct rand rand;
    rand_init(&rand, plan->seed ^ UINT64_C(0x5ad0));
    const bool exists = rand_below(&rand, 100) < 35;
    const client_id first = (client_id)rand_below(&rand, SIM_CLIENTS);
    const client_id second = (client_id)rand_below(&rand, SIM_CLIENTS);
    if (!exists || !may_watch(plan))
        return;
    plan->strength[FAULT_SHADOW] = 1;
    watch(&plan->clients[first]);
    watch(&plan->clients[second]);
    for (int i = 0; i < SIM_RELOADS; i++) {
        watch(&plan->reloads[i].clients[first]);
        watch(&plan->reloads[i].clients[second]);
    }
}

void watched_remove(struct plan *plan)
{
    for (int client = 0; client < SIM_CLIENTS; client++) {
        plan->clients[client].is_shadow = false;
        for (int i = 0; i < SIM_RELOADS; i++)
            plan->reloads[i].clients[client].is_shadow = false;
    }
}

bool is_watched(const struct sim *sim, client_id client)
{
    return sim->plan.clients[client].is_shadow;
}

enum reuse watched_reuse(const struct sim *sim, const struct need *need)
{
    return is_watched(sim, need->client) ? REUSE_NONE : need->reuse;
}

uint64_t watched_idempotency(const struct sim *sim, const struct need *need)
{
    return is_watched(sim, need->client) ? 0 : need->idempotency;
}

/* The vendor gave one task id to two submits: a poll brings one what the other has, which ends it as a failure. */
static bool shares_task(const struct sim *sim, const struct submit *submit)
{
    for (uint32_t i = 0; i < sim->submit_count; i++) {
        if (&sim->submits[i] != submit && sim->submits[i].is_accepted &&
            sim->submits[i].task == submit->task)
            return true;
    }
    return false;
}

/* What the vendor refused or gave up may be sent once more after a crash that took the request's end with it, but not
 * the attempt's: nobody was told of it. */
static bool is_excused(const struct sim *sim, const struct submit *submit)
{
    const bool has_failed = submit->is_void || (submit->is_ended && !submit->is_solved) ||
                            (submit->is_ended && shares_task(sim, submit));
    return !submit->is_executed || (has_failed && sim->crashes > 0);
}

/* Neither retried nor sent again, nor does anybody else wait for it. */
void watched_sent(struct sim *sim, const struct submit *submit)
{
    if (!is_watched(sim, submit->client))
        return;
    CHECK(sim, submit->reuse == REUSE_NONE && !submit->is_ridden);
    for (uint32_t i = 0; i < sim->submit_count; i++)
        CHECK(sim, &sim->submits[i] == submit || sim->submits[i].maker != submit->maker ||
                       is_excused(sim, &sim->submits[i]));
}

void watched_answer(struct sim *sim, const struct known *known, const struct answer *answer)
{
    const struct token *token = &sim->tokens[known->token];
    const struct submit *submit = &sim->submits[token->submit];
    if (!is_watched(sim, known->client)) {
        /* What a watched client paid for reaches nobody else. */
        CHECK(sim, !is_watched(sim, submit->client));
        return;
    }
    CHECK(sim, answer->source == SOURCE_API);
    CHECK(sim, submit->client == known->client);
    CHECK(sim, token->handed == 1 || token->is_unsafe);
}
