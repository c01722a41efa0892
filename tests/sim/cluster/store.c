/* The modelled store: rows with owners, claims, remembered ends. Everything in a batch happens at once. */
#include "../../record_number.h"
#include "cluster.h"

#include <stdlib.h>

/* How long the end of a claim is remembered for those who follow it. */
#define END_KEPT_MS 60000
#define WAKE_MOST_MS 20

/* ---- rows --------------------------------------------------------------------------------------- */

/* Pages of the books belong to one node each. */
struct key store_name_of(const struct record *record, node_id node)
{
    switch (record->kind) {
    case RECORD_DAY:
    case RECORD_TALLY:
    case RECORD_SPENT:
        return key_from_u64(record_number(record) << 12 | node);
    case RECORD_SOLUTION:
    case RECORD_FLIGHT:
    case RECORD_ATTEMPT:
    case RECORD_REQUEST:
    case RECORD_LETTER:
        return key_from_u64(record_number(record));
    case RECORD_IDEMPOTENCY:
        return record->idempotency.digest;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

struct row *store_find(struct store *store, enum record_kind kind, const struct key *name)
{
    for (size_t i = 0; i < store->row_count; i++) {
        struct row *row = &store->rows[i];
        const struct key own = store_name_of(&row->record, row->owner);
        if (row->record.kind == kind && key_equals(&own, name))
            return row;
    }
    return NULL;
}

struct row *store_find_solution(struct store *store, uint64_t id)
{
    const struct key name = key_from_u64(id);
    return id == 0 ? NULL : store_find(store, RECORD_SOLUTION, &name);
}

static void drop_row(struct store *store, struct row *row)
{
    record_close(&row->record);
    *row = store->rows[--store->row_count];
}

/* A record with references of its own. */
struct record store_copy_of(const struct record *record)
{
    struct record copy = *record;
    if (record->is_drop)
        return copy;
    switch (record->kind) {
    case RECORD_SOLUTION:
        (void)blob_ref(copy.solution.text);
        (void)blob_ref(copy.solution.extra);
        return copy;
    case RECORD_FLIGHT:
        (void)blob_ref(copy.flight.params);
        return copy;
    case RECORD_ATTEMPT:
        (void)blob_ref(copy.attempt.partial);
        return copy;
    case RECORD_REQUEST:
        (void)blob_ref(copy.request.pingback);
        return copy;
    case RECORD_LETTER:
        (void)blob_ref(copy.letter.text);
        (void)blob_ref(copy.letter.extra);
        (void)blob_ref(copy.letter.pingback);
        (void)blob_ref(copy.letter.error);
        (void)blob_ref(copy.letter.params);
        /* The history of a letter is of no interest here. */
        copy.letter.notes = NULL;
        copy.letter.note_count = 0;
        return copy;
    case RECORD_DAY:
        (void)blob_ref(copy.day.stats);
        (void)blob_ref(copy.day.hours);
        return copy;
    case RECORD_TALLY:
    case RECORD_SPENT:
    case RECORD_IDEMPOTENCY:
    case RECORD_KIND_COUNT:
        return copy;
    }
    UNREACHABLE();
}

static struct row *add_row(struct store *store, const struct record *take_record, node_id owner)
{
    store->rows = room_for(store->rows, store->row_count, &store->row_room, sizeof *store->rows);
    store->rows[store->row_count] = (struct row){.record = *take_record, .owner = owner};
    return &store->rows[store->row_count++];
}

static void note_attempt(struct cluster *c, const struct attempt_row *row)
{
    const uint32_t place = submit_named(c, row->name);
    if (place == NONE || row->task_id[0] == '\0' || c->submits[place].is_durable)
        return;
    c->submits[place].is_durable = true;
    c->submits[place].durable_ms = c->now_ms;
}

/* Nobody overwrites or drops what another node owns. */
static void apply_record(struct cluster *c, node_id node, const struct record *record)
{
    struct store *store = &c->store;
    const struct key name = store_name_of(record, node);
    struct row *row = store_find(store, record->kind, &name);
    if (row != NULL && row->owner != node)
        return;
    check_owner(c, row, node);
    if (record->is_drop) {
        if (row != NULL && record->kind == RECORD_SOLUTION)
            check_dropped(c, &row->record.solution);
        if (row != NULL)
            drop_row(store, row);
        return;
    }
    if (record->kind == RECORD_ATTEMPT)
        note_attempt(c, &record->attempt);
    const struct record copy = store_copy_of(record);
    if (row == NULL) {
        add_row(store, &copy, node)->since_ms = c->now_ms;
        return;
    }
    record_close(&row->record);
    row->record = copy;
    row->is_provisional = false;
}

/* ---- claims ------------------------------------------------------------------------------------- */

struct held_claim *store_find_claim(struct store *store, const struct key *name)
{
    for (size_t i = 0; i < store->claim_count; i++)
        if (key_equals(&store->claims[i].name, name))
            return &store->claims[i];
    return NULL;
}

static struct held_claim *find_claim_numbered(struct store *store, uint64_t number)
{
    for (size_t i = 0; i < store->claim_count; i++)
        if (store->claims[i].number == number)
            return &store->claims[i];
    return NULL;
}

void store_give(struct verdict *verdict, enum claim_result result, const struct solution_row *row)
{
    verdict->claimed.result = result;
    verdict->row = *row;
    (void)blob_ref(verdict->row.text);
    (void)blob_ref(verdict->row.extra);
}

static bool is_fresh(const struct cluster *c, const struct solution_row *row)
{
    return !row->is_bad && row->expires_wall_ms > wall_ms(c);
}

bool store_suits(const struct cluster *c, const struct claim *claim, const struct solution_row *row)
{
    return is_fresh(c, row) && row->expires_wall_ms - wall_ms(c) >= claim->min_ttl_ms &&
           wall_ms(c) - row->born_wall_ms <= (int64_t)claim->max_age_ms;
}

static void let_follow(struct verdict *verdict, const struct held_claim *held, node_id node)
{
    verdict->claimed.result = CLAIM_FOLLOW;
    verdict->claimed.followed = held->number;
    verdict->claimed.is_own = held->node == node;
}

/* A flight's solution, from its row or from the remembered end. */
static const struct solution_row *solution_of_flight(const struct cluster *c, uint64_t flight)
{
    const struct store *store = &c->store;
    for (size_t i = 0; i < store->row_count; i++) {
        const struct record *record = &store->rows[i].record;
        if (record->kind == RECORD_SOLUTION && record->solution.flight == flight)
            return &record->solution;
    }
    for (size_t i = 0; i < store->end_count; i++) {
        const struct claim_end *end = &store->ends[i];
        if (end->release.flight == flight && end->until_ms > c->now_ms &&
            end->solution.solution.text != NULL)
            return &end->solution.solution;
    }
    return NULL;
}

/* What the idempotency key stands for, if it decides the claim. */
static bool decide_by_key(struct cluster *c, node_id node, const struct claim *claim,
                          struct verdict *verdict)
{
    struct store *store = &c->store;
    struct row *row = store_find(store, RECORD_IDEMPOTENCY, &claim->idempotency);
    if (row == NULL || row->record.idempotency.expires_wall_ms <= wall_ms(c))
        return false;
    const struct idempotency_row *own = &row->record.idempotency;
    if (!key_equals(&own->fingerprint, &claim->key)) {
        verdict->claimed.result = CLAIM_MISMATCH;
        return true;
    }
    if (own->flight == claim->flight)
        return false;
    const struct row *kept = store_find_solution(store, own->solution);
    const struct solution_row *solution = kept != NULL       ? &kept->record.solution
                                          : own->flight == 0 ? NULL
                                                             : solution_of_flight(c, own->flight);
    if (solution == NULL && row->follows != 0)
        solution = solution_of_flight(c, row->follows);
    /* A flight that follows has no claim of its own: whoever repeats its key follows the same. */
    const struct held_claim *held =
        own->flight == 0 ? NULL : find_claim_numbered(store, own->flight);
    if (held == NULL && own->flight != 0 && claim->reuse == REUSE_SHARED)
        held = store_find_claim(store, &claim->name);
    if (solution != NULL && is_fresh(c, solution)) {
        store_give(verdict, CLAIM_SOLVED, solution);
    } else if (held != NULL) {
        let_follow(verdict, held, node);
    } else {
        verdict->claimed.is_renewed = solution != NULL;
        return false;
    }
    verdict->claimed.is_replayed = true;
    return true;
}

/* How the flight that was followed ended. */
static bool decide_by_end(struct cluster *c, const struct claim *claim, struct verdict *verdict)
{
    struct store *store = &c->store;
    for (size_t i = 0; i < store->end_count; i++) {
        const struct claim_end *end = &store->ends[i];
        /* While a stray keeps the claim, its first end is of use only as long as it is fresh. */
        const bool is_followed = claim->following != 0 && end->release.flight == claim->following &&
                                 end->until_ms > c->now_ms &&
                                 (!end->release.is_kept || is_fresh(c, &end->solution.solution));
        const bool is_for_all = claim->reuse == REUSE_SHARED &&
                                key_equals(&end->release.name, &claim->key) &&
                                end->refuse_until_ms > c->now_ms;
        if (is_followed && end->solution.solution.text != NULL) {
            store_give(verdict, CLAIM_SOLVED, &end->solution.solution);
            return true;
        }
        if ((is_followed || is_for_all) && end->release.class != CLASS_NONE) {
            verdict->claimed.result = CLAIM_REFUSED;
            verdict->claimed.class = end->release.class;
            verdict->claimed.attempts = end->release.attempts;
            memcpy(verdict->claimed.code, end->release.code, ERROR_CODE_MAX);
            return true;
        }
    }
    return false;
}

/* Solutions that all may have. */
static bool decide_by_solution(struct cluster *c, const struct claim *claim,
                               struct verdict *verdict)
{
    struct store *store = &c->store;
    for (size_t i = 0; i < store->row_count && claim->reuse == REUSE_SHARED; i++) {
        const struct record *record = &store->rows[i].record;
        const struct solution_row *solution = &record->solution;
        if (record->kind != RECORD_SOLUTION || !key_equals(&solution->key, &claim->key) ||
            !solution->is_kept || !solution->is_shared || !store_suits(c, claim, solution))
            continue;
        store_give(verdict, CLAIM_SOLVED, solution);
        return true;
    }
    return false;
}

static struct row *bind_key(struct cluster *c, node_id node, const struct claim *claim)
{
    struct store *store = &c->store;
    struct row *row = store_find(store, RECORD_IDEMPOTENCY, &claim->idempotency);
    if (row != NULL && row->record.idempotency.flight == claim->flight)
        return row;
    if (row != NULL)
        drop_row(store, row);
    struct record record = {.kind = RECORD_IDEMPOTENCY};
    record.idempotency = (struct idempotency_row){
        .digest = claim->idempotency,
        .client = claim->client,
        .fingerprint = claim->key,
        .flight = claim->flight,
        .expires_wall_ms = wall_ms(c) + c->plan.options.idempotency_ttl_ms};
    row = add_row(store, &record, node);
    row->is_provisional = true;
    return row;
}

/* Until the node has written what its key stands for, whoever repeats it finds that by the claim's row. */
static void bind_solution(struct row *row, const struct claim *claim, const struct verdict *verdict)
{
    row->follows = claim->following;
    row->record.idempotency.solution = verdict->row.id;
}

static void claim_name(struct cluster *c, node_id node, const struct claim *claim,
                       struct verdict *verdict)
{
    struct store *store = &c->store;
    verdict->claimed.result = CLAIM_WON;
    if (!claim->has_name)
        return;
    const struct held_claim *held = store_find_claim(store, &claim->name);
    if (held != NULL && held->number == claim->flight)
        return;
    if (held != NULL) {
        let_follow(verdict, held, node);
        return;
    }
    store->claims =
        room_for(store->claims, store->claim_count, &store->claim_room, sizeof *store->claims);
    store->claims[store->claim_count++] = (struct held_claim){
        .name = claim->name, .number = claim->flight, .node = node, .won_ms = c->now_ms};
    check_granted(c, &claim->name);
}

/* Is its task at the vendor? */
static bool is_solving(const struct store *store, uint64_t flight)
{
    for (size_t i = 0; i < store->row_count; i++) {
        const struct record *record = &store->rows[i].record;
        if (record->kind == RECORD_ATTEMPT && record->attempt.flight == flight &&
            record->attempt.task_id[0] != '\0' && !record->attempt.is_closed)
            return true;
    }
    return false;
}

/* Whoever repeats a follower's key gets what the follower will get, even if that has not asked since. */
static void note_follows(struct store *store, uint64_t flight, uint64_t followed)
{
    for (size_t i = 0; i < store->row_count; i++) {
        struct row *row = &store->rows[i];
        if (row->record.kind == RECORD_IDEMPOTENCY && row->record.idempotency.flight == flight)
            row->follows = followed;
    }
}

/* A claim that is sent again may have been won the first time, and find a solution now. */
static void drop_won(struct store *store, node_id node, const struct claim *claim)
{
    struct held_claim *held = claim->has_name ? store_find_claim(store, &claim->name) : NULL;
    if (held != NULL && held->number == claim->flight && held->node == node)
        *held = store->claims[--store->claim_count];
}

static void decide(struct cluster *c, node_id node, const struct claim *claim,
                   struct verdict *verdict)
{
    *verdict = (struct verdict){.claimed = {.flight = claim->flight,
                                            .ticket = claim->ticket,
                                            .proposal = claim->proposal,
                                            .is_held = claim->is_held,
                                            .has_name = claim->has_name,
                                            .has_idempotency = claim->has_idempotency,
                                            .name = claim->name}};
    if (claim->is_held) {
        claim_name(c, node, claim, verdict);
        return;
    }
    if (claim->has_idempotency && decide_by_key(c, node, claim, verdict)) {
        drop_won(&c->store, node, claim);
        return;
    }
    if (!decide_by_end(c, claim, verdict) && !takes_decide_own(c, node, claim, verdict) &&
        !decide_by_solution(c, claim, verdict) && !takes_decide(c, node, claim, verdict))
        claim_name(c, node, claim, verdict);
    if (verdict->claimed.result != CLAIM_WON)
        drop_won(&c->store, node, claim);
    verdict->claimed.is_lost = takes_has_lost(&c->store, node, claim, verdict);
    verdict->claimed.is_solving =
        verdict->claimed.result == CLAIM_FOLLOW && is_solving(&c->store, verdict->claimed.followed);
    struct row *bound = claim->has_idempotency && verdict->claimed.result != CLAIM_REFUSED
                            ? bind_key(c, node, claim)
                            : NULL;
    if (bound != NULL && bound->is_provisional && verdict->claimed.result == CLAIM_SOLVED)
        bind_solution(bound, claim, verdict);
    if (verdict->claimed.result == CLAIM_FOLLOW)
        note_follows(&c->store, claim->flight, verdict->claimed.followed);
}

/* ---- releases ------------------------------------------------------------------------------------ */

/* Everybody is told, and everybody may miss it. */
static void publish(struct cluster *c, const struct key *name)
{
    for (uint32_t i = 0; i < c->plan.nodes; i++) {
        if (chance(c, FAULT_WAKE_LOST))
            continue;
        at(c, 1 + below(c, WAKE_MOST_MS),
           (struct moment){.what = HAPPEN_WOKEN,
                           .node = i,
                           .incarnation = c->nodes[i].incarnation,
                           .name = *name});
    }
}

static void drop_provisional(struct store *store, uint64_t flight)
{
    for (size_t i = store->row_count; i > 0; i--) {
        struct row *row = &store->rows[i - 1];
        if (row->is_provisional && row->record.idempotency.flight == flight)
            drop_row(store, row);
    }
}

static void apply_release(struct cluster *c, node_id node, const struct release *release)
{
    struct store *store = &c->store;
    struct held_claim *held = store_find_claim(store, &release->name);
    if (held == NULL || held->number != release->flight || held->node != node)
        return;
    if (!release->is_kept)
        *held = store->claims[--store->claim_count];
    store->ends = room_for(store->ends, store->end_count, &store->end_room, sizeof *store->ends);
    struct claim_end *end = &store->ends[store->end_count++];
    *end = (struct claim_end){.release = *release,
                              .until_ms = c->now_ms + END_KEPT_MS,
                              .refuse_until_ms = c->now_ms + release->keep_ms};
    const struct row *row = store_find_solution(store, release->solution);
    if (row != NULL)
        end->solution = store_copy_of(&row->record);
    drop_provisional(store, release->flight);
    publish(c, &release->name);
}

/* ---- adoption --------------------------------------------------------------------------------------- */

void store_adopt(struct cluster *c, node_id from, node_id to)
{
    struct store *store = &c->store;
    const bool is_counted = to != 0 && !store->runs[from].member.is_leaving;
    check_adoption(c, from, to);
    store->runs[from].is_gone = true;
    for (size_t i = 0; i < store->row_count; i++) {
        struct row *row = &store->rows[i];
        const bool is_page = row->record.kind <= RECORD_SPENT;
        if (row->owner != from || is_page)
            continue;
        row->owner = to;
        if (row->record.kind == RECORD_FLIGHT && is_counted)
            row->record.flight.adoptions++;
        /* For whom its task is counts as it is written here: what the dead one decided since was refused. */
        if (row->record.kind == RECORD_ATTEMPT)
            vendor_note_row(c, &row->record);
    }
    for (size_t i = 0; i < store->claim_count; i++)
        if (store->claims[i].node == from)
            store->claims[i].node = to;
    for (size_t i = 0; i < store->inbox_count; i++)
        if (store->inbox[i].teller == from)
            store->inbox[i].teller = to;
}

/* ---- batches ------------------------------------------------------------------------------------- */

static void add_verdict(struct cluster *c, uint32_t place, const struct claim *claim)
{
    struct node *node = &c->nodes[place];
    node->verdicts =
        room_for(node->verdicts, node->verdict_count, &node->verdict_room, sizeof *node->verdicts);
    struct verdict *verdict = &node->verdicts[node->verdict_count++];
    if (forget_makes_wait(c, place, claim))
        *verdict = (struct verdict){.claimed = {.result = CLAIM_UNAVAILABLE,
                                                .flight = claim->flight,
                                                .ticket = claim->ticket,
                                                .proposal = claim->proposal}};
    else
        decide(c, node->run, claim, verdict);
}

static void add_drawn(struct cluster *c, uint32_t place, const struct draw *draw)
{
    struct node *node = &c->nodes[place];
    node->verdicts =
        room_for(node->verdicts, node->verdict_count, &node->verdict_room, sizeof *node->verdicts);
    struct verdict *verdict = &node->verdicts[node->verdict_count++];
    *verdict = (struct verdict){.is_draw = true};
    budget_apply(c, place, draw, &verdict->drawn);
}

static void apply_entry(struct cluster *c, uint32_t place, struct entry *entry)
{
    check_first(c, entry);
    entry->is_applied = true;
    apply_record(c, c->nodes[place].run, &entry->record);
    if (entry->record.kind == RECORD_DAY)
        books_note_written(c, place, entry->asked);
}

/* A batch that is sent again because its reply was lost changes nothing: meanwhile others may have taken
 * or dropped what it wrote. Only its claims are looked up again. */
bool store_apply(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    struct store *store = &c->store;
    /* The fence: decisions of an adopted node are refused, all together. */
    if (store->runs[node->run].is_gone)
        return false;
    forget_enter(c, place);
    const bool is_repeat = store->applied[place] == node->batch;
    store->applied[place] = node->batch;
    for (size_t i = 0; i < node->sent; i++) {
        struct entry *entry = &node->queue[i];
        if (entry->kind == ACTION_CLAIM)
            add_verdict(c, place, &entry->claim);
        else if (entry->kind == ACTION_DRAW)
            add_drawn(c, place, &entry->draw);
        else if (entry->kind == ACTION_RELEASE && !is_repeat)
            apply_release(c, node->run, &entry->release);
        else if (entry->kind == ACTION_JOURNAL && !is_repeat)
            apply_entry(c, place, entry);
        else if (entry->kind == ACTION_TELL && !is_repeat)
            inbox_put(c, node->run, &entry->fact);
        else if (entry->kind == ACTION_FORGET && !is_repeat)
            inbox_forget(store, entry->forget);
    }
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------- */

void store_close(struct store *store)
{
    for (size_t i = 0; i < store->row_count; i++)
        record_close(&store->rows[i].record);
    for (size_t i = 0; i < store->end_count; i++)
        record_close(&store->ends[i].solution);
    free(store->rows);
    free(store->claims);
    free(store->ends);
    for (size_t i = 0; i < store->inbox_count; i++) {
        blob_unref(store->inbox[i].fact.result.text);
        blob_unref(store->inbox[i].fact.result.extra);
    }
    free(store->inbox);
}
