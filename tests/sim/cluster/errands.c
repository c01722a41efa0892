/* Errands: clients report solutions as bad and give requests up, at any node. */
#include "cluster.h"

#define LATER_MOST_MS 3000
#define TRIES_MAX 5

static uint32_t some_node(struct cluster *c)
{
    const uint32_t node = (uint32_t)rand_below(&c->find_rand, c->plan.nodes);
    return c->nodes[node].engine == NULL || node_is_paused(c, node) ? NONE : node;
}

static void report_later(struct cluster *c, uint32_t need, uint32_t tries)
{
    if (tries < TRIES_MAX)
        at(c, 1 + rand_below(&c->find_rand, LATER_MOST_MS),
           (struct moment){.what = HAPPEN_REPORT, .subject = need, .detail = tries});
}

void errands_on_solved(struct cluster *c, uint32_t need)
{
    if (c->needs[need].token != NONE && find_chance(c, FAULT_REPORT))
        report_later(c, need, 0);
}

void errands_happen(struct cluster *c, const struct moment *moment)
{
    const struct need *need = &c->needs[moment->subject];
    const uint32_t node = some_node(c);
    if (node == NONE) {
        report_later(c, moment->subject, moment->detail + 1);
        return;
    }
    const caller_id caller = clients_call(c, moment->subject, node);
    c->tokens[need->token].is_doubted = true;
    c->callers[caller - 1].is_report = true;
    /* Here it counts how often this was tried. */
    c->callers[caller - 1].hold_ms = moment->detail;
    tell(c, "need %u reports %llu at n%u", moment->subject, (unsigned long long)need->id, node);
    struct event event = {.kind = EVENT_REPORT, .random = rand_u64(&c->find_rand)};
    event.report = (struct report){.caller = caller, .id = need->id};
    node_step(c, node, &event);
}

bool errands_give_up(struct cluster *c, uint32_t place)
{
    struct need *need = &c->needs[place];
    const uint32_t node = find_chance(c, FAULT_GIVE_UP) ? some_node(c) : NONE;
    if (node == NONE)
        return false;
    const caller_id caller = clients_call(c, place, node);
    c->callers[caller - 1].is_detach = true;
    need->state = NEED_LOOKING;
    need->node = node;
    need->give_ups++;
    tell(c, "need %u gives up %llu at n%u", place, (unsigned long long)need->id, node);
    struct event event = {.kind = EVENT_DETACH, .random = rand_u64(&c->find_rand)};
    event.detach = (struct detach){.caller = caller, .id = need->id};
    node_step(c, node, &event);
    return true;
}

static bool must_come_again(const struct answer *answer)
{
    return answer->refusal == REFUSAL_STORE_AWAY || answer->refusal == REFUSAL_FULL_REQUESTS;
}

/* Its row may be there for a moment after it has expired; what was reported expires when the store hears of it. */
static bool is_expired(const struct cluster *c, const struct need *need)
{
    const struct token *token = need->token == NONE ? NULL : &c->tokens[need->token];
    return token != NULL && (token->is_condemned || token->expires_ms <= c->now_ms);
}

/* No node says that it does not know an id whose row is there, unless it was given up before: whoever was told to come
 * again may have been heard all the same. */
static void check_unknown(struct cluster *c, const struct caller *caller,
                          const struct answer *answer)
{
    const struct need *need = &c->needs[caller->need];
    const struct key name = key_from_u64(need->id);
    const bool was_given_up = need->give_ups > caller->is_detach;
    CHECK(c, answer->refusal != REFUSAL_UNKNOWN_ID || need->is_unsafe || need->is_slept_through ||
                 was_given_up || is_expired(c, need) ||
                 store_find(&c->store, RECORD_REQUEST, &name) == NULL);
}

static void on_withdrawn(struct cluster *c, uint32_t place, const struct answer *answer)
{
    struct need *need = &c->needs[place];
    c->withdrawals += answer->refusal == REFUSAL_NONE;
    need->state = must_come_again(answer) ? NEED_KNOWN : NEED_DONE;
    if (must_come_again(answer))
        at(c, 500, (struct moment){.what = HAPPEN_NEED, .subject = place});
}

static void on_reported(struct cluster *c, const struct caller *caller, const struct answer *answer)
{
    struct token *token = &c->tokens[c->needs[caller->need].token];
    if (must_come_again(answer)) {
        report_later(c, caller->need, caller->hold_ms + 1);
    } else if (answer->refusal == REFUSAL_NONE) {
        c->reports++;
        /* Of one that nobody else can have nobody is told. */
        if (token->reuse != REUSE_SHARED)
            return;
        CHECK(c, token->is_condemned);
        if (token->bad_ms == 0)
            token->bad_ms = c->now_ms;
    }
}

void errands_on_answer(struct cluster *c, struct caller *caller, const struct answer *answer)
{
    if (!caller->is_open)
        return;
    caller->is_open = false;
    tell(c, "need %u is told %s", caller->need, answer->refusal == REFUSAL_NONE ? "done" : "no");
    check_unknown(c, caller, answer);
    if (caller->is_detach)
        on_withdrawn(c, caller->need, answer);
    else
        on_reported(c, caller, answer);
}

/* ---- bad solutions ------------------------------------------------------------------------------- */

static bool is_bad(const struct solution_row *row, const struct bad_solution *bad)
{
    return row->attempt == bad->attempt && key_equals(&row->key, &bad->key);
}

static void note_condemned(struct cluster *c, const struct bad_solution *bad)
{
    const uint32_t place = submit_named(c, bad->attempt);
    if (place != NONE && c->submits[place].token != NONE)
        c->tokens[c->submits[place].token].is_condemned = true;
}

void store_condemn(struct cluster *c, const struct bad_solution *bad)
{
    struct store *store = &c->store;
    note_condemned(c, bad);
    for (size_t i = 0; i < store->row_count; i++) {
        struct record *record = &store->rows[i].record;
        if (record->kind != RECORD_SOLUTION || !is_bad(&record->solution, bad))
            continue;
        record->solution.is_bad = true;
        record->solution.is_kept = false;
    }
    for (size_t i = 0; i < store->end_count; i++) {
        struct record *solution = &store->ends[i].solution;
        if (solution->solution.text == NULL || !is_bad(&solution->solution, bad))
            continue;
        record_close(solution);
        *solution = (struct record){.kind = RECORD_DAY};
    }
}
