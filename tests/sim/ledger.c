/* The ledger's rules: when a second submit is legal, what must be on disk by when, what may be forgotten. */
#include "sim.h"
#include "watched.h"

#include <stdlib.h>

/* As the engine has them: how long a late callback is understood, and what a restored flight gets at least. */
#define LISTEN_MS 3600000
#define RESTORED_GRACE_MS 30000

static uint32_t key_place(const struct sim *sim, const struct key *key)
{
    uint64_t number;
    memcpy(&number, key->bytes, sizeof number);
    CHECK(sim, number > 0 && number <= sim->key_count);
    return (uint32_t)(number - 1);
}

/* A row's wall time on the world's clock. */
static uint64_t moment_of(const struct sim *sim, int64_t wall_ms)
{
    return (uint64_t)((int64_t)sim->now_ms + wall_ms - sim_wall_ms(sim));
}

/* ---- open submits of a key -------------------------------------------------------------------- */

static void open_up(struct sim *sim, uint32_t place)
{
    struct submit *submit = &sim->submits[place];
    const uint32_t head = sim->open_of_key[submit->key];
    submit->is_open = true;
    submit->prev_open = MAP_NONE;
    submit->next_open = head;
    if (head != MAP_NONE)
        sim->submits[head].prev_open = place;
    sim->open_of_key[submit->key] = place;
}

static void close_down(struct sim *sim, uint32_t place)
{
    struct submit *submit = &sim->submits[place];
    if (!submit->is_open)
        return;
    submit->is_open = false;
    if (submit->prev_open != MAP_NONE)
        sim->submits[submit->prev_open].next_open = submit->next_open;
    else
        sim->open_of_key[submit->key] = submit->next_open;
    if (submit->next_open != MAP_NONE)
        sim->submits[submit->next_open].prev_open = submit->prev_open;
}

/* Until when the vendor may still solve what it has accepted. */
static uint64_t life_ms(const struct sim *sim, const struct submit *submit)
{
    return submit->issued_ms + UINT64_C(2) * sim->spans.least.solve_timeout_ms;
}

/* Its flight's end, or the end of its window if nobody heard of it, allows another one; for whoever rides on it the
 * end of its life does. */
static bool is_over(const struct sim *sim, const struct submit *submit)
{
    const uint64_t window_ms = submit->issued_ms + sim->spans.least.ambiguity_window_ms;
    return (submit->is_lossy && sim->now_ms >= window_ms) || sim->now_ms >= submit->deadline_ms ||
           (submit->is_ridden && sim->now_ms >= life_ms(sim, submit));
}

/* Whoever asks for the same after its flight's end waits for it: while the vendor may still solve it, or, when
 * nobody heard of it, while the callback may still come. */
static bool is_ridden_on(const struct sim *sim, const struct submit *submit)
{
    const uint64_t window_ms = submit->issued_ms + sim->spans.least.ambiguity_window_ms;
    if (submit->is_forgotten || submit->is_ended || submit->is_void)
        return false;
    return sim->now_ms <
           (submit->is_id_told && submit->has_id_row ? life_ms(sim, submit) : window_ms);
}

/* A solution ends the flight that it is for, whichever attempt brought it. */
static void close_flight(struct sim *sim, const struct submit *solved)
{
    uint32_t next;
    for (uint32_t i = sim->open_of_key[solved->key]; i != MAP_NONE; i = next) {
        const struct submit *submit = &sim->submits[i];
        next = submit->next_open;
        if (submit->flight == solved->flight ||
            (submit->reuse == REUSE_SHARED && solved->reuse == REUSE_SHARED))
            close_down(sim, i);
    }
}

/* I1, I3: a second submit only when the first was proven void, ended, or unheard of for the window. */
static void check_alone(struct sim *sim, const struct submit *issued)
{
    uint32_t next;
    for (uint32_t i = sim->open_of_key[issued->key]; i != MAP_NONE; i = next) {
        const struct submit *other = &sim->submits[i];
        next = other->next_open;
        if (is_over(sim, other) && !is_ridden_on(sim, other)) {
            close_down(sim, i);
            continue;
        }
        if (other->flight == issued->flight ||
            (other->reuse == REUSE_SHARED && issued->reuse == REUSE_SHARED))
            trace_note(sim, "a%u of key %u is still open: deadline %lld from now, %s", i,
                       other->key, (long long)(other->deadline_ms - sim->now_ms),
                       other->is_lossy ? "unheard of" : "heard of");
        CHECK(sim, other->flight != issued->flight);
        CHECK(sim, other->reuse != REUSE_SHARED || issued->reuse != REUSE_SHARED);
    }
}

void ledger_issue(struct sim *sim, const struct action *action)
{
    const struct call *call = &action->call;
    const uint32_t place = map_get(&sim->submit_by_name, call->attempt);
    /* I2: its intent is journaled before it, and the submit waits for that. */
    CHECK(sim, place != MAP_NONE && action->after == sim->disk.appended && action->after > 0);
    struct submit *submit = &sim->submits[place];
    CHECK(sim, !submit->is_issued && call->client == submit->client);
    CHECK(sim, places_fit_params(sim, call->params, submit->key));
    CHECK(sim, !sim->disk.is_full);
    /* What lies in a letter of its client is not paid for again. */
    CHECK(sim, submit->key != sim->free_key);
    submit->is_issued = true;
    submit->issued_ms = sim->now_ms;
    pools_note_submit(sim, submit->key);
    check_alone(sim, submit);
    open_up(sim, place);
}

void ledger_sent(struct sim *sim, const struct submit *submit)
{
    /* I2: durable before the first byte. */
    CHECK(sim, disk_find(&sim->disk, RECORD_ATTEMPT, submit->name) != NULL);
    watched_sent(sim, submit);
}

void ledger_told(struct sim *sim, uint32_t place, const struct vendor_result *result)
{
    struct submit *submit = &sim->submits[place];
    if (result->outcome == OUTCOME_NOT_SENT && submit->is_accepted)
        return; /* of a poll */
    if (result->outcome == OUTCOME_NOT_SENT || result->outcome == OUTCOME_WITHDRAWN ||
        result->outcome == OUTCOME_REJECTED) {
        submit->is_void = true;
        close_down(sim, place);
    } else if (result->outcome == OUTCOME_AMBIGUOUS) {
        submit->is_lossy = true;
    } else if (result->outcome == OUTCOME_ACCEPTED) {
        submit->is_id_told = true;
    } else if (result->outcome == OUTCOME_FAILED) {
        submit->is_ended = true;
        close_down(sim, place);
    } else if (result->outcome == OUTCOME_SOLVED) {
        struct token *token = &sim->tokens[token_of(sim, blob_slice(result->text))];
        sim->solved += !token->is_reached;
        token->is_reached = true;
        submit->is_ended = submit->is_solved = true;
        close_flight(sim, submit);
    }
}

/* The task id is journaled before anything else happens to it. */
void ledger_after_told(struct sim *sim, uint32_t place)
{
    const struct submit *submit = &sim->submits[place];
    CHECK(sim,
          !submit->is_open || !submit->is_id_told || submit->has_id_row || is_over(sim, submit));
}

/* ---- records ------------------------------------------------------------------------------------ */

static void note_flight(struct sim *sim, const struct flight_row *row)
{
    if (map_get(&sim->flight_by_uid, row->id) != MAP_NONE)
        return;
    sim->flights =
        array_grow(sim->flights, sim->flight_count, &sim->flight_room, sizeof *sim->flights);
    sim->flights[sim->flight_count] = (struct flight_note){
        .deadline_ms = moment_of(sim, row->created_wall_ms) + sim->spans.least.solve_timeout_ms,
        .key = key_place(sim, &row->key),
    };
    map_set(&sim->flight_by_uid, row->id, (uint32_t)sim->flight_count++);
    pools_note_flight(sim, row);
}

/* With the next intent they are given up, though a crash may come before its submit. */
static void close_over(struct sim *sim, const struct submit *intended)
{
    uint32_t next;
    for (uint32_t i = sim->open_of_key[intended->key]; i != MAP_NONE; i = next) {
        const struct submit *submit = &sim->submits[i];
        next = submit->next_open;
        if (submit->flight == intended->flight && is_over(sim, submit))
            close_down(sim, i);
    }
}

/* Another flight of its key waits for it from now on. */
static void note_ride(struct sim *sim, struct submit *submit, const struct attempt_row *row)
{
    const uint32_t flight = map_get(&sim->flight_by_uid, row->flight);
    CHECK(sim, flight != MAP_NONE && sim->flights[flight].key == submit->key);
    /* A crash that takes the ride's rows gives it back to whoever made it. */
    CHECK(sim, row->reuse != REUSE_NONE || row->flight == submit->maker);
    submit->flight = row->flight;
    submit->reuse = row->reuse;
    submit->is_ridden = true;
    submit->deadline_ms = sim->flights[flight].deadline_ms;
}

/* The first row of an attempt is its intent. */
static void note_attempt(struct sim *sim, const struct attempt_row *row)
{
    const uint32_t known = map_get(&sim->submit_by_name, row->name);
    if (known != MAP_NONE) {
        struct submit *submit = &sim->submits[known];
        CHECK(sim, !submit->is_forgotten);
        if (submit->flight != row->flight)
            note_ride(sim, submit, row);
        /* I8: what is known of it never becomes less. */
        CHECK(sim, !submit->is_id_told || row->is_counted);
        CHECK(sim, !submit->has_id_row || row->task_id[0] != '\0');
        submit->has_id_row |= row->task_id[0] != '\0';
        return;
    }
    const uint32_t flight = map_get(&sim->flight_by_uid, row->flight);
    CHECK(sim, row->name != 0 && flight != MAP_NONE);
    sim->submits =
        array_grow(sim->submits, sim->submit_count, &sim->submit_room, sizeof *sim->submits);
    sim->submits[sim->submit_count] = (struct submit){
        .name = row->name,
        .flight = row->flight,
        .maker = row->flight,
        .issued_ms = sim->now_ms,
        .deadline_ms = sim->flights[flight].deadline_ms,
        .ready_ms = UINT64_MAX,
        .key = key_place(sim, &row->key),
        .client = row->client,
        .reuse = row->reuse,
        .is_replay = row->why == CAUSE_REPLAY,
        .error = CLASS_NONE,
        .token = MAP_NONE,
        .task = (uint32_t)sim->submit_count,
        .twin = MAP_NONE,
        .other = MAP_NONE,
        .handed = MAP_NONE,
    };
    CHECK(sim, sim->flights[flight].key == sim->submits[sim->submit_count].key);
    close_over(sim, &sim->submits[sim->submit_count]);
    map_set(&sim->submit_by_name, row->name, (uint32_t)sim->submit_count++);
    sim->attempt_rows++;
}

/* I4: nothing that may still bring something paid for is forgotten, as long as there is room for it. */
static void forget_attempt(struct sim *sim, attempt_id name)
{
    const uint32_t place = map_get(&sim->submit_by_name, name);
    CHECK(sim, place != MAP_NONE);
    struct submit *submit = &sim->submits[place];
    const struct engine_options *options = &sim->plan.options;
    const bool is_late = sim->now_ms >= submit->issued_ms + LISTEN_MS || sim->has_skewed;
    const bool is_full = sim->attempt_rows >= options->max_flights * 2;
    /* Without callbacks only polls bring anything, and those end with the flight. */
    /* A crash may have made a stray again of what was ridden on. */
    const bool is_stray = submit->is_ridden && sim->crashes > 0;
    const bool is_deaf =
        !options->has_callbacks && (submit->is_ended || is_over(sim, submit) || is_stray ||
                                    !submit->is_open || submit->is_lossy);
    CHECK(sim, submit->is_void || is_late || is_full || is_deaf);
    submit->is_forgotten = true;
    sim->attempt_rows--;
}

/* What is made for one, or for a pool, is nobody else's. It is decided when it is written down: later another flight
 * may ride on the same submit's other task. */
static void note_for_whom(const struct sim *sim, struct token *token, attempt_id attempt)
{
    const uint32_t submit = map_get(&sim->submit_by_name, attempt);
    if (!token->is_durable && token->handed == 0)
        token->is_exclusive =
            sim->submits[submit == MAP_NONE ? token->submit : submit].reuse != REUSE_SHARED;
}

static void note_solution(struct sim *sim, const struct solution_row *row)
{
    const uint32_t token = token_of(sim, blob_slice(row->text));
    CHECK(sim, token != MAP_NONE && sim->tokens[token].is_reached);
    note_for_whom(sim, &sim->tokens[token], row->attempt);
    /* I6: kept under the key it was solved for, unless the vendor mixes up ids and we could not tell. */
    const struct submit *maker = &sim->submits[sim->tokens[token].submit];
    CHECK(sim, key_place(sim, &row->key) == sim->tokens[token].key || maker->is_unnamed ||
                   maker->is_forgotten);
    sim->tokens[token].key = key_place(sim, &row->key);
    /* After a restart a task whose rows are gone may come again as a new one. */
    if (row->attempt != maker->name && sim->plan.strength[FAULT_TASK_TWICE] > 0 &&
        sim->crashes > 0 && (maker->is_unnamed || maker->is_forgotten))
        sim->tokens[token].is_unsafe = true;
    sim->tokens[token].expires_ms = moment_of(sim, row->expires_wall_ms);
    /* Two attempts may have one task where the vendor mixes up ids; it is for both where both share. */
    const bool is_twice = sim->plan.strength[FAULT_TASK_TWICE] > 0 && row->is_shared;
    /* What was safe once is recognised when it comes again, and does not become a second solution; in a
     * letter it was nobody's. */
    CHECK(sim, sim->tokens[token].uid == row->id || sim->tokens[token].uid == 0 ||
                   !sim->tokens[token].is_durable || sim->tokens[token].is_unsafe ||
                   sim->tokens[token].is_lettered || is_twice);
    sim->tokens[token].uid = row->id;
    const uint32_t flight = row->flight == 0 ? MAP_NONE : map_get(&sim->flight_by_uid, row->flight);
    if (flight != MAP_NONE)
        sim->flights[flight].is_solved = true;
    map_set(&sim->token_by_uid, row->id, token);
    pools_note_solution(sim, token, row);
}

/* I4, I10: a paid solution ends handed out, expired, crowded out or reported; never just so. */
static void forget_solution(struct sim *sim, uint64_t uid)
{
    const uint32_t place = map_get(&sim->token_by_uid, uid);
    CHECK(sim, place != MAP_NONE);
    const struct token *token = &sim->tokens[place];
    const bool is_expired =
        sim->now_ms + pool_min_ttl_ms(sim, token->key) >= token->expires_ms || sim->has_skewed;
    /* Where few bytes may be kept, any answer that nobody read yet can give way. */
    const bool is_tight = sim->plan.options.max_finished_bytes < UINT64_C(1) << 22;
    const bool is_crowded_out = sim->is_crowded || is_tight ||
                                engine_stats(sim->engine)->solutions_evicted > 0 ||
                                sim->requests_full_ms > token->born_ms;
    /* Of a client that is gone it is in a letter; or, where everybody may have it, those who were held had it. */
    const bool is_orphan =
        token->is_lettered ||
        (sim->is_absent[sim->submits[token->submit].client] && !token->is_exclusive);
    /* In shadow mode nobody else may have what its caller did not wait for. */
    const bool is_lone = is_watched(sim, sim->submits[token->submit].client);
    CHECK(sim, token->emitted > 0 || token->is_taken || is_expired || is_crowded_out || is_orphan ||
                   is_lone || token->is_reported || token->is_unsafe ||
                   sim_is_one_time(sim, token->key));
    pools_forget_solution(sim, place);
}

void ledger_record(struct sim *sim, const struct action *action)
{
    const struct record *record = &action->record;
    if (record->kind == RECORD_LETTER && !record->is_drop)
        places_note_letter(sim, &record->letter);
    CHECK(sim, action->after == sim->disk.appended + 1);
    if (record->kind == RECORD_SPENT)
        sim->spent[record->spent.client] = record->spent.spent;
    if (record->kind == RECORD_FLIGHT && !record->is_drop)
        note_flight(sim, &record->flight);
    if (record->kind == RECORD_ATTEMPT && !record->is_drop)
        note_attempt(sim, &record->attempt);
    if (record->kind == RECORD_ATTEMPT && record->is_drop)
        forget_attempt(sim, record->attempt.name);
    if (record->kind == RECORD_SOLUTION && !record->is_drop)
        note_solution(sim, &record->solution);
    if (record->kind == RECORD_SOLUTION && record->is_drop)
        forget_solution(sim, record->solution.id);
    notices_record(sim, record);
}

void ledger_row(struct sim *sim, const struct record *record)
{
    /* What cannot be placed is safe in a letter. */
    if (record->kind == RECORD_LETTER && !record->is_drop && record->letter.text != NULL) {
        const uint32_t token = token_of(sim, blob_slice(record->letter.text));
        CHECK(sim, token != MAP_NONE || record->letter.request != 0);
        if (token != MAP_NONE)
            sim->tokens[token].is_durable = true;
    }
    if (record->kind == RECORD_ATTEMPT && !record->is_drop && record->attempt.partial != NULL)
        sim->tokens[token_of(sim, blob_slice(record->attempt.partial))].is_partial = true;
    notices_row(sim, record);
    if (record->kind != RECORD_SOLUTION || record->is_drop)
        return;
    struct token *token = &sim->tokens[token_of(sim, blob_slice(record->solution.text))];
    token->is_durable = true;
    token->is_taken |= record->solution.handed > 0;
    sim->submits[token->submit].is_durable = true;
}

/* ---- crashes ---------------------------------------------------------------------------------- */

/* What the disk still knows of a submit decides what the engine may do next. */
static void look_at_remains(struct sim *sim, uint32_t place)
{
    struct submit *submit = &sim->submits[place];
    const struct record *row = disk_find(&sim->disk, RECORD_ATTEMPT, submit->name);
    if (row == NULL) {
        /* Sent ones have their intent on disk, unless it was dropped for good. */
        CHECK(sim, !submit->is_executed || submit->is_forgotten);
        submit->is_forgotten = true;
        close_down(sim, place);
        return;
    }
    if (submit->is_forgotten || !submit->is_issued)
        submit->is_forgotten = false;
    sim->attempt_rows++;
    /* A ride whose rows are lost did not happen. */
    submit->reuse = row->attempt.reuse;
    submit->flight = row->attempt.flight;
    submit->has_id_row = row->attempt.task_id[0] != '\0';
    submit->is_unnamed |= !submit->has_id_row;
    submit->is_lossy = !submit->has_id_row;
    submit->is_id_told &= submit->has_id_row;
    submit->must_poll = false;
    /* Knowledge of its end may have gone with the crash; then it simply goes on. */
    if (sim->has_skewed)
        close_down(sim, place);
}

void ledger_after_crash(struct sim *sim)
{
    places_rekey(sim);
    sim->attempt_rows = 0;
    for (uint32_t i = 0; i < sim->submit_count; i++)
        look_at_remains(sim, i);
    for (size_t i = 0; i < sim->token_count; i++)
        sim->tokens[i].emitted = sim->tokens[i].handed;
    for (client_id i = 0; i < SIM_CLIENTS; i++) {
        const struct record *row = disk_find(&sim->disk, RECORD_SPENT, i);
        sim->spent[i] = row == NULL ? 0 : row->spent.spent;
    }
    sim->tally = (struct counted){.requests = 0};
}

/* Every restored flight has its time, however long we were away. */
static void prolong(struct sim *sim)
{
    for (size_t i = 0; i < sim->submit_count; i++) {
        struct submit *submit = &sim->submits[i];
        if (!submit->is_open || submit->deadline_ms >= sim->now_ms + RESTORED_GRACE_MS)
            continue;
        const struct record *flight = disk_find(&sim->disk, RECORD_FLIGHT, submit->flight);
        if (flight != NULL && !flight->flight.is_over)
            submit->deadline_ms = sim->now_ms + RESTORED_GRACE_MS;
    }
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        if (!row->is_used || row->record.kind != RECORD_FLIGHT)
            continue;
        struct flight_note *note =
            &sim->flights[map_get(&sim->flight_by_uid, row->record.flight.id)];
        /* A wall clock that was set makes flights look older than they are. */
        if (note->deadline_ms < sim->now_ms + RESTORED_GRACE_MS || sim->has_skewed)
            note->deadline_ms = sim->now_ms + RESTORED_GRACE_MS;
    }
}

/* Nothing restored lives longer than a lifetime of today. */
static void shorten(struct sim *sim)
{
    if (sim->plan.strength[FAULT_RELOAD] == 0)
        return;
    for (size_t i = 0; i < sim->token_count; i++) {
        struct token *token = &sim->tokens[i];
        const uint64_t until_ms = sim->now_ms + sim->plan.options.ttl_ms[token->key % TYPE_COUNT];
        if (token->expires_ms > until_ms)
            token->expires_ms = until_ms;
    }
}

/* Its flight was solved, or it brought what came too late for that. */
static bool has_solution(const struct sim *sim, const struct attempt_row *attempt)
{
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        if (row->is_used && row->record.kind == RECORD_SOLUTION &&
            (row->record.solution.flight == attempt->flight ||
             row->record.solution.attempt == attempt->name))
            return true;
    }
    return false;
}

static bool is_newest(const struct sim *sim, const struct attempt_row *attempt)
{
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        const struct attempt_row *other = &row->record.attempt;
        if (row->is_used && row->record.kind == RECORD_ATTEMPT && other->name != attempt->name &&
            other->flight == attempt->flight && !other->is_closed &&
            other->started_wall_ms >= attempt->started_wall_ms)
            return false;
    }
    return true;
}

/* No durable attempt with a task id is forgotten: whoever finds this row must fetch what was paid for. */
static bool is_to_be_fetched(const struct sim *sim, const struct attempt_row *attempt)
{
    if (attempt->task_id[0] == '\0' || attempt->is_closed || sim->has_skewed)
        return false;
    const struct record *flight = disk_find(&sim->disk, RECORD_FLIGHT, attempt->flight);
    return flight != NULL && !flight->flight.is_over && !has_solution(sim, attempt) &&
           is_newest(sim, attempt);
}

/* More solutions survived than there is room for: their drops were lost with the crash. */
static bool is_crowded(const struct sim *sim)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        kept += row->is_used && row->record.kind == RECORD_SOLUTION;
    }
    return kept > sim->plan.options.max_solutions ||
           sim->plan.options.max_solution_bytes < UINT64_C(1000) * kept;
}

void ledger_after_restart(struct sim *sim)
{
    sim->base = *engine_stats(sim->engine);
    sim->is_crowded = is_crowded(sim);
    prolong(sim);
    shorten(sim);
    /* Squares of the number of rows are for small disks. */
    if (sim->plan.size == SIZE_LARGE)
        return;
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        if (!row->is_used || row->record.kind != RECORD_ATTEMPT)
            continue;
        const uint32_t place = map_get(&sim->submit_by_name, row->record.attempt.name);
        sim->submits[place].must_poll = is_to_be_fetched(sim, &row->record.attempt);
    }
}

/* Whatever the vendor accepted before the crash is paid for by somebody's budget after it. */
static void check_budgets(struct sim *sim)
{
    if (sim->first_day != sim->last_day || sim->has_skewed)
        return;
    for (size_t i = 0; i < SIM_CLIENTS; i++) {
        const uint64_t budget = sim->spans.budget_least[i];
        const uint64_t accepted = sim->accepted[i] < budget ? sim->accepted[i] : budget;
        /* What is spent without a limit is not written down. */
        CHECK(sim, sim->spans.budget_most[i] == UINT64_MAX || sim->spent[i] >= accepted);
    }
}

/* A second task's solution may end a flight while the next submit is on the wire: nobody waits for that one, and it
 * is asked for when there is time. */
static bool is_solved_without(const struct sim *sim, const struct submit *submit)
{
    const uint32_t flight = map_get(&sim->flight_by_uid, submit->flight);
    return flight != MAP_NONE && sim->flights[flight].is_solved;
}

void ledger_after_first_tick(struct sim *sim)
{
    check_budgets(sim);
    for (size_t i = 0; i < sim->submit_count; i++) {
        /* What an older attempt brought in part may end its flight before it is asked for. */
        CHECK(sim, !sim->submits[i].must_poll || sim->submits[i].polled_in == sim->incarnation ||
                       is_solved_without(sim, &sim->submits[i]));
        sim->submits[i].must_poll = false;
    }
}

/* Where nothing keeps us from asking, what is ready in time is fetched in time. */
void ledger_at_the_end(struct sim *sim)
{
    const struct engine_options *options = &sim->spans.most;
    static const enum fault hindrances[] = {FAULT_POLL_UNHEARD, FAULT_STALL,     FAULT_WALL,
                                            FAULT_DISK_FULL,    FAULT_DISK_SLOW, FAULT_ONE_TIME};
    for (size_t i = 0; i < sizeof hindrances / sizeof hindrances[0]; i++)
        if (sim->plan.strength[hindrances[i]] > 0)
            return;
    if (sim->crashes > 0)
        return;
    const uint64_t patience_ms =
        UINT64_C(20000) + options->fallback_after_ms + options->poll_interval_ms * UINT64_C(3);
    for (size_t i = 0; i < sim->submit_count; i++) {
        const struct submit *submit = &sim->submits[i];
        if (submit->ready_ms == UINT64_MAX)
            continue;
        const bool is_late = is_solved_without(sim, submit);
        const uint64_t by_ms = submit->ready_ms + patience_ms +
                               (is_late ? options->ttl_ms[submit->key % TYPE_COUNT] / 4 : 0);
        /* Whoever rides on it has a deadline of his own, but the task's life is not longer for that. */
        const bool is_in_time = by_ms < submit->deadline_ms &&
                                (!submit->is_ridden || by_ms < life_ms(sim, submit)) &&
                                (!is_late || by_ms < sim->now_ms);
        if (is_in_time && submit->is_id_told && !submit->is_ended)
            trace_note(sim, "a%zu of client %u is not fetched", i, submit->client);
        CHECK(sim, !is_in_time || !submit->is_id_told || submit->is_ended ||
                       (is_late && submit->is_forgotten));
    }
}
