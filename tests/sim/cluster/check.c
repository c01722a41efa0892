/* The rules that hold for the cluster as a whole. */
#include "cluster.h"

/* A clock's tick here, a tick there. */
static uint64_t margin_ms(const struct cluster *c)
{
    return 2000 + clocks_off_ms(c);
}

/* ---- paid once ------------------------------------------------------------------------------------- */

/* May the vendor still be working on it, as far as its node can know? What is excused is what docs/cluster.md says is
 * paid twice: a standstill for longer than lease and window together, and an ambiguous submit after its window. */
enum liveness { TASK_IS_LIVE, TASK_IS_OVER, TASK_STOOD_STILL, TASK_WINDOW_ENDED, TASK_TIMED_OUT };

static enum liveness liveness_of(const struct cluster *c, const struct submit *submit)
{
    if (!submit->is_executed || submit->is_ended)
        return TASK_IS_OVER;
    const struct run *run = &c->store.runs[submit->run];
    /* Whoever goes on with a run's rows counts from the time of day in them, by a clock of its own. */
    const uint64_t off_ms = run->is_gone ? clocks_off_ms(c) : 0;
    const uint64_t window_ms = clocks_least_ms(c, c->plan.options.ambiguity_window_ms);
    const uint64_t task_ms =
        clocks_least_ms(c, 2 * (uint64_t)c->plan.options.solve_timeout_ms) - off_ms;
    /* Its node stood still for longer than its adopter waits: by then the key may be anybody's. */
    if (run->is_gone && submit->durable_ms > run->gone_ms + window_ms)
        return TASK_STOOD_STILL;
    /* What an adopted node knows alone is worth nothing: the others waited for it, and then paid again. */
    const bool is_known =
        submit->is_durable || (submit->is_id_told && run_is_alive(c, submit->run) && !run->is_gone);
    if (is_known)
        return c->now_ms < submit->issued_ms + task_ms ? TASK_IS_LIVE : TASK_TIMED_OUT;
    const uint64_t until_ms = submit->issued_ms + window_ms - off_ms;
    /* Its adopter waits once more. */
    const bool is_awaited = c->now_ms < until_ms || (run->is_gone && run->gone_ms < until_ms &&
                                                     c->now_ms < run->gone_ms + window_ms);
    return is_awaited ? TASK_IS_LIVE : TASK_WINDOW_ENDED;
}

/* An excuse that everything needs is none: the summary says how often each was needed. */
static void note_excuse(struct cluster *c, const struct submit *submit, enum liveness liveness)
{
    if (!submit->is_accepted)
        return;
    c->again_stopped += liveness == TASK_STOOD_STILL;
    c->again_ambiguous += liveness == TASK_WINDOW_ENDED;
    c->again_late += liveness == TASK_TIMED_OUT;
}

void check_submit(struct cluster *c, const struct submit *submit)
{
    if (submit->reuse != REUSE_SHARED)
        return;
    for (size_t i = 0; i < c->submit_count; i++) {
        const struct submit *other = &c->submits[i];
        if (other == submit || other->key != submit->key || other->reuse != REUSE_SHARED)
            continue;
        const enum liveness liveness = liveness_of(c, other);
        if (liveness == TASK_IS_LIVE)
            tell(c, "while n%u waits for %llx", other->node, (unsigned long long)other->name);
        CHECK(c, liveness != TASK_IS_LIVE);
        note_excuse(c, other, liveness);
    }
}

/* A solution that all may have, and that every claim finds. What came after the claim was won is not looked for: a
 * task that was given up elsewhere may be solved while the flight waits for its slot. */
static const struct solution_row *find_shared(struct cluster *c, uint32_t key_number)
{
    const struct key key = key_numbered(key_number);
    const struct held_claim *held = store_find_claim(&c->store, &key);
    const uint64_t asked_ms = held == NULL ? c->now_ms : held->won_ms;
    for (size_t i = 0; i < c->store.row_count; i++) {
        const struct record *record = &c->store.rows[i].record;
        if (record->kind == RECORD_SOLUTION && key_equals(&record->solution.key, &key) &&
            record->solution.is_shared && record->solution.is_kept &&
            c->store.rows[i].since_ms <= asked_ms &&
            record->solution.expires_wall_ms > wall_ms(c) + (int64_t)margin_ms(c) &&
            !c->tokens[token_of(c, record->solution.text)].is_condemned)
            return &record->solution;
    }
    return NULL;
}

void check_needed(struct cluster *c, const struct submit *submit)
{
    if (submit->reuse != REUSE_SHARED || !submit->is_first || c->losses > 0 ||
        c->plan.strength[FAULT_PICKY] > 0)
        return;
    CHECK(c, find_shared(c, submit->key) == NULL);
}

void check_lease(struct cluster *c, const struct submit *submit)
{
    CHECK(c, c->now_ms < c->store.beat_ms[submit->node] + c->plan.options.lease_ms);
}

/* ---- what the store promises ------------------------------------------------------------------------ */

void check_owner(struct cluster *c, const struct row *row, node_id node)
{
    CHECK(c, row == NULL || row->owner == node);
}

void check_granted(struct cluster *c, const struct key *name)
{
    unsigned holders = 0;
    for (size_t i = 0; i < c->store.claim_count; i++)
        holders += key_equals(&c->store.claims[i].name, name);
    CHECK(c, holders == 1);
}

void check_first(struct cluster *c, const struct entry *entry)
{
    CHECK(c, !entry->is_applied);
}

/* A node that has beaten within a lease trusts it, unless it has left, or comes back under its own name. */
void check_adoption(struct cluster *c, node_id from, node_id to)
{
    const struct run *run = &c->store.runs[from];
    const uint64_t lease_ms = clocks_least_ms(c, c->plan.options.lease_ms);
    const bool is_present = c->nodes[run->place].engine != NULL;
    CHECK(c, from == 0 || !run->is_gone);
    CHECK(c, to == 0 || from == 0 || run->place == c->store.runs[to].place);
    CHECK(c, to == 0 || !c->store.runs[to].is_gone);
    if (from != 0 && to == 0 && is_present && c->nodes[run->place].run == from)
        CHECK(c, run->member.is_leaving || c->now_ms >= c->store.beat_ms[run->place] + lease_ms);
}

/* ---- handed out ------------------------------------------------------------------------------------- */

/* Did somebody with the same idempotency key get another solution that is still fresh? */
static void check_same(struct cluster *c, uint32_t place, uint32_t token, bool is_unsafe)
{
    const struct need *need = &c->needs[place];
    for (size_t i = 0; i < c->need_count; i++) {
        const struct need *other = &c->needs[i];
        if (i == place || need->idempotency == 0 || other->idempotency != need->idempotency ||
            other->key != need->key || other->token == NONE || other->token == token)
            continue;
        tell(c, "need %u gets t%u, need %zu got t%u", place, token, i, other->token);
        /* Whoever asked before a report may get what it was about, and whoever asked after it another one: from the
         * moment of the report on, since its own node drops it from memory before the store hears of it. */
        const bool is_doubted = c->tokens[token].is_doubted || c->tokens[other->token].is_doubted;
        /* Either is over: it was solved anew, or this is somebody who comes back late for its own. */
        const bool is_old = c->tokens[other->token].expires_ms < c->now_ms + margin_ms(c) ||
                            c->tokens[token].expires_ms < c->now_ms + margin_ms(c);
        /* A follower's key is free for a moment when the store has lost all, and when it fails because it may not claim
         * before its deadline, though who repeated its key was answered elsewhere. */
        const bool is_lost = c->losses > 0 && need->reuse == REUSE_SHARED;
        /* A follower whose gateway ended, or began anew, goes on as whatever flight has its key by then: one for
         * somebody who wanted a fresher solution than the one that repeats of its idempotency key got elsewhere. */
        const bool is_picky = c->plan.strength[FAULT_PICKY] > 0 && need->reuse == REUSE_SHARED;
        CHECK(c, is_old || c->tokens[other->token].is_unsafe || is_unsafe || is_doubted ||
                     is_lost || is_picky);
    }
}

/* Nobody who asks after a report was answered gets what it was about, once everybody has heard of it. */
static void check_good(const struct cluster *c, const struct need *need, const struct token *token)
{
    const bool is_bad = token->bad_ms != 0 && need->asked_ms > token->bad_ms && !token->is_unsafe;
    CHECK(c, !is_bad || inbox_has_bad(&c->store, c->submits[token->submit].name));
}

void check_handed(struct cluster *c, uint32_t place, const struct answer *answer, bool is_unsafe)
{
    struct need *need = &c->needs[place];
    const uint32_t number = token_of(c, answer->text);
    CHECK(c, number != NONE);
    struct token *token = &c->tokens[number];
    CHECK(c, token->key == need->key);
    CHECK(c, token->is_told);
    if (token->need == place)
        return;
    const bool is_same_key = need->idempotency != 0 && token->idempotency == need->idempotency;
    token->is_unsafe |= is_unsafe;
    tell(c, "need %u gets t%u", place, number);
    check_good(c, need, token);
    token->is_exclusive |= c->submits[token->submit].reuse != REUSE_SHARED;
    CHECK(c, token->handed == 0 || is_same_key || token->is_unsafe ||
                 (!token->is_exclusive && need->reuse == REUSE_SHARED));
    check_same(c, place, number, is_unsafe);
    if (token->handed == 0) {
        token->need = place;
        token->idempotency = need->idempotency;
    }
    token->is_exclusive |= need->reuse != REUSE_SHARED;
    token->handed++;
    need->token = number;
}

/* A fresh solution that nobody got is dropped for lack of room only. A pool drops what is too old for it. */
void check_dropped(struct cluster *c, const struct solution_row *row)
{
    const uint32_t number = token_of(c, row->text);
    CHECK(c, number != NONE);
    const bool is_roomy = c->plan.options.max_solutions > 64;
    CHECK(c,
          !is_roomy || !row->is_kept || row->handed > 0 || c->tokens[number].handed > 0 ||
              row->expires_wall_ms < wall_ms(c) + (int64_t)margin_ms(c) + c->plan.pool.min_ttl_ms);
}

/* ---- books -------------------------------------------------------------------------------------------- */

/* Its run was not adopted yet. */
static bool is_member(const struct cluster *c, uint32_t place)
{
    const struct node *node = &c->nodes[place];
    return node->engine != NULL && !c->store.runs[node->run].is_gone;
}

/* Has every adopter said what it holds with the tasks that it has adopted? It may stand still before it can. */
static bool is_all_told(const struct cluster *c)
{
    for (uint32_t i = 0; i < c->plan.nodes; i++)
        if (c->nodes[i].has_untold && is_member(c, i))
            return false;
    return true;
}

/* The tasks of one whom nobody adopted are over after a lease and the longest solve, as far as others know. */
static bool is_long_silent(const struct cluster *c, uint32_t place)
{
    const struct engine_options *options = &c->plan.options;
    const uint64_t silence_ms = (uint64_t)options->lease_ms + options->solve_timeout_ms;
    return c->now_ms >= c->store.beat_ms[place] + clocks_least_ms(c, silence_ms);
}

/* Nobody takes a slot beyond the plan, unless tasks changed hands a moment ago. What somebody who died says of a task
 * may be heard long after that: its task is at the vendor, and was there before. */
static void check_slots(struct cluster *c, uint32_t place, const struct event *event)
{
    struct gauges gauges;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < c->plan.nodes; i++)
        if (is_member(c, i) && i != place && !is_long_silent(c, i))
            sum += c->nodes[i].slots_used;
    struct node *node = &c->nodes[place];
    engine_gauges(node->engine, &gauges);
    const bool has_heard = event != NULL && event->kind == EVENT_TOLD;
    const bool has_taken = gauges.slots_used > node->slots_used && !has_heard;
    node->slots_used = gauges.slots_used;
    if (has_taken && is_member(c, place) && c->now_ms >= c->settled_ms && is_all_told(c))
        CHECK(c, sum + gauges.slots_used <= c->plan.options.slots);
}

static struct pool_view pool_of(const struct cluster *c, uint32_t place)
{
    struct pool_view view = {.size = 0};
    (void)engine_list_pools(c->nodes[place].engine, &view, 1);
    return view;
}

static uint32_t level_of(const struct cluster *c, uint32_t place)
{
    const struct pool_view view = pool_of(c, place);
    return view.ready - view.waning + view.solving;
}

/* What a node has got without having begun it, or adopted it: the solution of a task that was given up. The others hear
 * of it with one of its next beats. */
static void note_windfall(struct cluster *c, struct node *node, uint32_t level, uint32_t begun)
{
    if (c->now_ms >= node->windfall_until_ms)
        node->windfall = 0;
    if (level > node->pool_level + begun && !node->has_untold) {
        node->windfall += level - node->pool_level - begun;
        node->windfall_until_ms = c->now_ms + UINT64_C(2) * c->plan.options.lease_ms;
    }
    node->pool_level = level;
}

/* What the others can know of. */
static uint32_t told_level_of(const struct cluster *c, uint32_t place)
{
    const struct node *node = &c->nodes[place];
    const uint32_t level = level_of(c, place);
    const uint32_t untold = c->now_ms < node->windfall_until_ms ? node->windfall : 0;
    return level > untold ? level - untold : 0;
}

/* Refills since its latest step. What a run begins with is its predecessor's. */
static uint32_t begun_by(struct node *node, bool is_start)
{
    const uint64_t refills = engine_stats(node->engine)->pool_refills;
    const uint64_t begun = is_start ? 0 : refills - node->pool_refills;
    node->pool_refills = refills;
    return (uint32_t)begun;
}

/* What somebody has adopted is left to the dead one, but not by whoever came later, nor for longer than a lease: they
 * know of it when they hear what its adopter has told. */
static bool is_unheard(const struct cluster *c, const struct node *adopter, const struct node *node)
{
    const uint64_t until_ms =
        adopter->adopting_ms + clocks_least_ms(c, c->plan.options.lease_ms) - margin_ms(c);
    const bool is_told = !adopter->has_untold && adopter->told_ms < node->heard_ms;
    return !is_told && (c->now_ms >= until_ms || node->started_ms >= adopter->adopting_ms);
}

/* Nobody begins a refill beyond the pool's size, whoever has what there is, also while it changes hands. */
static void check_pool(struct cluster *c, uint32_t place, bool is_start)
{
    struct node *node = &c->nodes[place];
    const uint32_t begun = begun_by(node, is_start);
    uint32_t sum = level_of(c, place);
    if (is_start)
        node->pool_level = sum;
    note_windfall(c, node, sum, begun);
    if (begun == 0)
        return;
    for (uint32_t i = 0; i < c->plan.nodes; i++) {
        if (!is_member(c, i))
            continue;
        /* Nobody counts on what is with somebody who has been silent for long. */
        if (is_long_silent(c, i) || is_unheard(c, &c->nodes[i], node))
            return;
        sum += i == place ? 0 : told_level_of(c, i);
    }
    CHECK(c, sum <= c->plan.pool.size);
}

void check_after_step(struct cluster *c, uint32_t place, const struct event *event)
{
    check_slots(c, place, event);
    check_pool(c, place, event == NULL);
    const struct node *node = &c->nodes[place];
    const struct stats *stats = engine_stats(node->engine);
    /* While nothing goes wrong any more there are mostly beats. */
    if (!c->is_healing || c->steps % 8 == 0)
        engine_check(node->engine);
    CHECK(c, stats->requests >= node->asked);
    CHECK(c, stats->submits_accepted >= node->accepted);
}

void check_at_the_end(struct cluster *c)
{
    for (size_t i = 0; i < c->need_count; i++)
        CHECK(c, c->needs[i].state == NEED_DONE);
    for (size_t i = 0; i < c->caller_count; i++)
        CHECK(c, !c->callers[i].is_open);
    for (uint32_t i = 0; i < c->plan.nodes; i++) {
        struct gauges gauges;
        CHECK(c, c->nodes[i].engine != NULL);
        engine_gauges(c->nodes[i].engine, &gauges);
        CHECK(c, gauges.flights == 0 && gauges.waiting == 0 && gauges.strays == 0);
        CHECK(c, c->nodes[i].queue_count == 0 && c->nodes[i].waiting_count == 0);
    }
    /* Whoever claims releases. */
    CHECK(c, c->store.claim_count == 0);
    /* Every fact was heard. */
    CHECK(c, c->store.inbox_count == 0);
    check_units_are_back(c);
    check_books(c);
}
