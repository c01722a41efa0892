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

/* What an operator replays is not the client's any more. */
static bool is_replayed(const struct sim *sim, const struct submit *submit)
{
    for (uint32_t i = 0; i < sim->submit_count; i++)
        if (sim->submits[i].maker == submit->maker && sim->submits[i].is_replay)
            return true;
    return false;
}

/* Neither retried nor sent again, also after a crash, nor does anybody else wait for it. */
void watched_sent(struct sim *sim, const struct submit *submit)
{
    if (!is_watched(sim, submit->client))
        return;
    CHECK(sim, submit->reuse == REUSE_NONE && !submit->is_ridden);
    if (is_replayed(sim, submit))
        return;
    for (uint32_t i = 0; i < sim->submit_count; i++)
        CHECK(sim, &sim->submits[i] == submit || sim->submits[i].maker != submit->maker ||
                       !sim->submits[i].is_executed);
}

/* The vendor gave one task id to two submits: what a poll brings a served one under it is its own. */
static bool is_also_served(const struct sim *sim, const struct submit *submit)
{
    for (uint32_t i = 0; i < sim->submit_count; i++) {
        const struct submit *other = &sim->submits[i];
        if (other != submit && other->is_accepted && other->task == submit->task &&
            !is_watched(sim, other->client))
            return true;
    }
    return false;
}

void watched_answer(struct sim *sim, const struct known *known, const struct answer *answer)
{
    const struct token *token = &sim->tokens[known->token];
    const struct submit *submit = &sim->submits[token->submit];
    if (!is_watched(sim, known->client)) {
        /* What a watched client paid for reaches nobody else. */
        CHECK(sim, !is_watched(sim, submit->client) || is_also_served(sim, submit));
        return;
    }
    CHECK(sim, answer->source == SOURCE_API);
    CHECK(sim, submit->client == known->client);
    CHECK(sim, token->handed == 1 || token->is_unsafe);
}
