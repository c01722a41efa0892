/* Beats, and what keeps them from arriving: each node has a thread of its own for them. */
#include "cluster.h"

#define TRAVEL_MS 10
#define SLOW_MS 2500
/* As in store_pulse.c. */
#define HURRY_MS 200
#define HURRIED 1
/* Longer than any lease, so that some are taken for dead. */
#define CUT_MOST_MS 40000

/* Chance of its own, so that a world without these faults is what it would be without beats. */
bool pulse_chance(struct cluster *c, enum fault fault)
{
    return rand_below(&c->pulse_rand, 1000) < c->plan.strength[fault] && !c->is_healing;
}

static uint64_t travel_ms(struct cluster *c)
{
    return 1 + rand_below(&c->pulse_rand, pulse_chance(c, FAULT_STORE_SLOW) ? SLOW_MS : TRAVEL_MS);
}

bool node_is_cut(const struct cluster *c, uint32_t place)
{
    return c->now_ms < c->nodes[place].cut_until_ms || c->now_ms < c->store.away_until_ms;
}

static struct moment moment_of(const struct cluster *c, enum happening what, uint32_t place,
                               uint64_t sent_ms)
{
    return (struct moment){
        .what = what, .node = place, .incarnation = c->nodes[place].incarnation, .number = sent_ms};
}

void pulse_start(struct cluster *c, uint32_t place)
{
    c->nodes[place].is_hurrying = false;
    at(c, 0, moment_of(c, HAPPEN_BEAT, place, 0));
}

static void send(struct cluster *c, uint32_t place)
{
    engine_demand(c->nodes[place].engine, &c->nodes[place].demand);
    if (node_is_cut(c, place) || pulse_chance(c, FAULT_BEAT_LOST))
        c->nodes[place].is_unbroken = false;
    else
        at(c, travel_ms(c), moment_of(c, HAPPEN_BEAT_AT_STORE, place, c->now_ms));
}

/* The usual beats go on beside one that came sooner. */
static void beat(struct cluster *c, const struct moment *moment)
{
    if (moment->subject == HURRIED)
        c->nodes[moment->node].is_hurrying = false;
    else
        at(c, c->plan.options.lease_ms / 4, moment_of(c, HAPPEN_BEAT, moment->node, 0));
    send(c, moment->node);
}

void pulse_hurry(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    if (c->plan.strength[FAULT_HURRY] == 0 || node->is_hurrying || !engine_must_hurry(node->engine))
        return;
    struct moment soon = moment_of(c, HAPPEN_BEAT, place, 0);
    soon.subject = HURRIED;
    node->is_hurrying = true;
    at(c, HURRY_MS, soon);
}

static void list_members(struct cluster *c, struct node *node)
{
    node->member_count = 0;
    for (node_id id = 1; id <= c->store.last_run; id++) {
        if (c->store.runs[id].is_gone || c->store.runs[id].is_forgotten)
            continue;
        CHECK(c, node->member_count < sizeof node->members / sizeof node->members[0]);
        struct member *member = &node->members[node->member_count++];
        *member = c->store.runs[id].member;
        member->is_self = id == node->run;
        /* What it has just given up is others' from now on, also if the row is that before the beat. */
        if (member->is_self && member->demand.held > node->demand.held)
            member->demand.held = node->demand.held;
    }
}

/* What was there before the beat may be more than what the node says by now (store_pulse.c). */
static void give_up_levels(struct node *node)
{
    for (uint16_t i = 0; i < node->member_count; i++)
        for (unsigned place = 0; node->members[i].is_self && place < DEMAND_POOLS; place++)
            if (node->members[i].demand.levels[place] > node->demand.levels[place])
                node->members[i].demand.levels[place] = node->demand.levels[place];
}

static void answer(struct cluster *c, const struct moment *moment)
{
    struct moment back = moment_of(c, HAPPEN_BEAT_BACK, moment->node, moment->number);
    back.detail = (uint32_t)(c->now_ms - moment->number);
    at(c, travel_ms(c), back);
}

static void arrive(struct cluster *c, const struct moment *moment)
{
    const uint32_t place = moment->node;
    if (node_is_cut(c, place)) {
        c->nodes[place].is_unbroken = false;
        return;
    }
    struct node *node = &c->nodes[place];
    struct run *run = &c->store.runs[node->run];
    if (run->is_gone) {
        at(c, travel_ms(c), moment_of(c, HAPPEN_FENCED, place, 0));
        return;
    }
    if (run->is_forgotten) {
        /* The writer finds out by itself if it has nothing to write. */
        node->is_unbroken = false;
        if (node->sent == 0) {
            forget_enter(c, place);
            at(c, travel_ms(c), moment_of(c, HAPPEN_LOST, place, 0));
        }
        return;
    }
    c->store.beat_ms[place] = c->now_ms;
    if (node->has_untold && moment->number >= node->adopted_ms) {
        node->has_untold = false;
        node->told_ms = c->now_ms;
        node_unsettle(c);
    }
    /* PostgreSQL answers by what was there before the beat, Redis by what is there with it. */
    if (c->plan.seed % 2 == 0)
        list_members(c, node);
    run->member.beat++;
    run->member.demand = node->demand;
    give_up_levels(node);
    if (c->plan.seed % 2 == 1)
        list_members(c, node);
    if (pulse_chance(c, FAULT_BEAT_LOST))
        c->nodes[place].is_unbroken = false;
    else
        answer(c, moment);
}

static void come_back(struct cluster *c, const struct moment *moment)
{
    struct event event = {.kind = EVENT_BEAT, .random = rand_u64(&c->pulse_rand)};
    if (node_is_cut(c, moment->node)) {
        c->nodes[moment->node].is_unbroken = false;
        return;
    }
    clocks_follow(c, moment->node, moment->number, moment->number + moment->detail);
    struct node *node = &c->nodes[moment->node];
    node->heard_ms = moment->number + moment->detail;
    event.beat.sent_ms = node_clock_ms(c, moment->node, moment->number);
    event.beat.members = node->members;
    event.beat.member_count = node->member_count;
    event.beat.is_unbroken = node->is_unbroken;
    node->is_unbroken = true;
    node_step(c, moment->node, &event);
    inbox_read(c, moment->node);
}

/* ---- adoption --------------------------------------------------------------------------------------- */

/* A reply that is lost is asked for again, for as long as that takes: the rows are ours meanwhile. */
static uint64_t silence_ms(struct cluster *c)
{
    return drain_chance(c, FAULT_ADOPTION_LOST) ? rand_below(&c->drain_rand, CUT_MOST_MS) : 0;
}

/* The store decides at once, and only if the node is as seen. Its rows then travel in parts. */
static void decide(struct cluster *c, const struct moment *moment)
{
    struct node *node = &c->nodes[moment->node];
    struct run *dead = &c->store.runs[moment->subject];
    node_unsettle(c);
    parcel_close(&node->parcel);
    node->parcel.id = moment->subject;
    node->parcel.is_ours = !node_is_cut(c, moment->node) && !dead->is_gone && !dead->is_forgotten &&
                           !c->store.runs[node->run].is_gone && dead->member.beat == moment->number;
    if (node->parcel.is_ours) {
        node->adopting_ms = node->has_untold ? node->adopting_ms : c->now_ms;
        node->has_untold = true;
        node->adopted_ms = UINT64_MAX;
        c->adoptions++;
        dead->gone_ms = c->now_ms;
        store_adopt(c, dead->member.id, 0);
        store_pack(c, 0, &node->parcel);
        books_note_adopted(c, moment->node);
        c->store.runs[0].member.is_leaving = dead->member.is_leaving;
        store_adopt(c, 0, node->run);
        /* The copies count this adoption, too. */
        for (size_t i = 0; i < node->parcel.record_count; i++)
            if (node->parcel.records[i].kind == RECORD_FLIGHT && !dead->member.is_leaving)
                node->parcel.records[i].flight.adoptions++;
    }
    at(c, travel_ms(c) + silence_ms(c), moment_of(c, HAPPEN_ADOPTED, moment->node, node->run));
}

static void deliver(struct cluster *c, const struct moment *moment)
{
    struct node *node = &c->nodes[moment->node];
    struct parcel *parcel = &node->parcel;
    if (moment->number != node->run)
        return;
    node_unsettle(c);
    node->has_untold = parcel->is_ours;
    size_t most = 1 + rand_below(&c->pulse_rand, 16);
    const size_t records = parcel->record_count - parcel->records_sent;
    struct event event = {.kind = EVENT_ADOPTED, .random = rand_u64(&c->pulse_rand)};
    event.adopted = (struct adopted){.id = parcel->id, .is_ours = parcel->is_ours};
    event.adopted.records = parcel->records + parcel->records_sent;
    event.adopted.record_count = records < most ? records : most;
    most -= event.adopted.record_count;
    const size_t claims = parcel->claim_count - parcel->claims_sent;
    event.adopted.claims = parcel->claims + parcel->claims_sent;
    event.adopted.claim_count = claims < most ? claims : most;
    parcel->records_sent += event.adopted.record_count;
    parcel->claims_sent += event.adopted.claim_count;
    event.adopted.is_last =
        parcel->records_sent == parcel->record_count && parcel->claims_sent == parcel->claim_count;
    node->adopted_ms = event.adopted.is_last ? c->now_ms : UINT64_MAX;
    if (!event.adopted.is_last)
        at(c, travel_ms(c) + silence_ms(c), moment_of(c, HAPPEN_ADOPTED, moment->node, node->run));
    node_step(c, moment->node, &event);
}

void pulse_happens(struct cluster *c, const struct moment *moment)
{
    if (moment->what == HAPPEN_ADOPT)
        decide(c, moment);
    else if (moment->what == HAPPEN_ADOPTED)
        deliver(c, moment);
    else if (moment->what == HAPPEN_BEAT)
        beat(c, moment);
    else if (moment->what == HAPPEN_BEAT_AT_STORE)
        arrive(c, moment);
    else
        come_back(c, moment);
}

/* ---- nodes that do not hear, or do not run --------------------------------------------------------- */

bool node_is_paused(const struct cluster *c, uint32_t place)
{
    return c->now_ms < c->nodes[place].paused_until_ms;
}

static void cut(struct cluster *c, uint32_t place)
{
    c->nodes[place].cut_until_ms = c->now_ms + rand_below(&c->pulse_rand, CUT_MOST_MS);
    tell(c, "n%u is cut off from the store", place);
}

static void stop(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    node->paused_until_ms = c->now_ms + 1 + rand_below(&c->pulse_rand, CUT_MOST_MS);
    tell(c, "n%u stands still", place);
    at(c, node->paused_until_ms - c->now_ms, moment_of(c, HAPPEN_RESUME, place, 0));
    clients_on_pause(c, place);
}

void pulse_disturb(struct cluster *c)
{
    const bool is_cut = pulse_chance(c, FAULT_CUT);
    const bool is_stopped = pulse_chance(c, FAULT_PAUSE);
    if (!is_cut && !is_stopped)
        return;
    const uint32_t place = (uint32_t)rand_below(&c->pulse_rand, c->plan.nodes);
    if (c->nodes[place].engine == NULL || node_is_paused(c, place))
        return;
    if (is_cut)
        cut(c, place);
    else
        stop(c, place);
}
