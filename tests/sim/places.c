/* The configuration changes: clients go, come and change places between restarts, and go and come back by reloads. The
 * world knows them by name, the engine by place. */
#include "sim.h"

bool places_change(const struct sim *sim)
{
    return sim->plan.strength[FAULT_CLIENTS] > 0;
}

void places_open(struct sim *sim)
{
    if (!places_change(sim))
        return;
    /* A pool's client is there, or the configuration is refused. */
    sim->plan.options.pool_count = 0;
    sim->plan.options.clients_share = false;
    for (int i = 0; i < SIM_RELOADS; i++)
        sim->plan.reloads[i].options.clients_share = false;
}

/* Its requests and keys may be gone. */
bool places_missed(const struct sim *sim, client_id client, uint64_t since_ms)
{
    return sim->absent_ms[client] > since_ms;
}

static void note_absent(struct sim *sim)
{
    for (client_id name = 0; name < SIM_CLIENTS; name++)
        if (sim->is_absent[name])
            sim->absent_ms[name] = sim->now_ms + 1;
}

static void shuffle(struct sim *sim)
{
    for (client_id i = SIM_CLIENTS - 1; i > 0; i--) {
        const client_id other = (client_id)sim_below(sim, (uint64_t)i + 1);
        const client_id name = sim->name_at[i];
        sim->name_at[i] = sim->name_at[other];
        sim->name_at[other] = name;
    }
}

/* Who is there after a start, and where. */
void places_draw(struct sim *sim)
{
    if (!places_change(sim)) {
        for (client_id i = 0; i < SIM_CLIENTS; i++)
            sim->name_at[i] = sim->place_of[i] = i;
        return;
    }
    note_absent(sim);
    if (sim->crashes == 0)
        for (client_id i = 0; i < SIM_CLIENTS; i++)
            sim->name_at[i] = i;
    shuffle(sim);
    for (client_id i = 0; i < SIM_CLIENTS; i++) {
        const client_id name = sim->name_at[i];
        sim->place_of[name] = i;
        /* At the end everybody is served. */
        sim->is_absent[name] = sim->crashes > 0 && sim_chance(sim, FAULT_CLIENTS);
        if (sim->is_absent[name])
            trace_note(sim, "client %u is missing", name);
    }
    note_absent(sim);
}

/* Also one that is missing when it starts comes back to its place, unlike in the gateway, where another place has its
 * name then. */
void places_reload(struct sim *sim)
{
    if (!places_change(sim))
        return;
    note_absent(sim);
    for (client_id name = 0; name < SIM_CLIENTS; name++) {
        sim->is_absent[name] = sim_chance(sim, FAULT_CLIENTS);
        trace_note(sim, "client %u is %s", name, sim->is_absent[name] ? "missing" : "there");
    }
    note_absent(sim);
}

/* As the gateway has it: no limit holds for one that is gone. */
void places_options(struct sim *sim, struct engine_options *options)
{
    static const struct client_options gone = {
        .weight = 1, .budget_per_day = UINT64_MAX, .is_gone = true};
    *options = sim->plan.options;
    for (client_id place = 0; place < SIM_CLIENTS; place++) {
        const client_id name = sim->name_at[place];
        sim->placed[place] = sim->is_absent[name] ? gone : sim->plan.clients[name];
    }
    options->clients = sim->placed;
}

/* ---- across the border ----------------------------------------------------------------------------- */

static client_id *client_of(struct record *record)
{
    switch (record->kind) {
    case RECORD_TALLY:
        return &record->tally.client;
    case RECORD_SPENT:
        return &record->spent.client;
    case RECORD_SOLUTION:
        return &record->solution.client;
    case RECORD_FLIGHT:
        return &record->flight.client;
    case RECORD_ATTEMPT:
        return &record->attempt.client;
    case RECORD_REQUEST:
        return &record->request.client;
    case RECORD_IDEMPOTENCY:
        return &record->idempotency.client;
    case RECORD_LETTER:
        return &record->letter.client;
    case RECORD_DAY:
    case RECORD_KIND_COUNT:
        return NULL;
    }
    UNREACHABLE();
}

struct record places_row(const struct sim *sim, const struct record *row)
{
    struct record placed = *row;
    client_id *const client = client_of(&placed);
    if (client != NULL)
        *client = sim->place_of[*client];
    return placed;
}

void places_name(const struct sim *sim, struct action *action)
{
    client_id *client = NULL;
    if (action->kind == ACTION_JOURNAL)
        client = client_of(&action->record);
    else if (action->kind == ACTION_SUBMIT || action->kind == ACTION_POLL)
        client = &action->call.client;
    if (client != NULL)
        *client = sim->name_at[*client];
}

struct event places_event(const struct sim *sim, const struct event *event)
{
    struct event placed = *event;
    if (event->kind == EVENT_ASK) {
        placed.ask.client = sim->place_of[event->ask.client];
    } else if (event->kind == EVENT_LOOK) {
        placed.look.client = sim->place_of[event->look.client];
    } else if (event->kind == EVENT_DETACH) {
        placed.detach.client = sim->place_of[event->detach.client];
    } else if (event->kind == EVENT_REPORT) {
        placed.report.client = sim->place_of[event->report.client];
    } else if (event->kind == EVENT_ACCOUNT) {
        placed.account.client = sim->place_of[event->account.client];
    } else if (event->kind == EVENT_LETTERS) {
        placed.letters.filter.client = sim->place_of[event->letters.filter.client];
        placed.letters.into = sim->place_of[event->letters.into];
    }
    return placed;
}

/* ---- letters of those that are gone ------------------------------------------------------------------ */

static const struct letter_row *find_orphan(const struct sim *sim, uint32_t key, client_id client)
{
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        if (!row->is_used || row->record.kind != RECORD_LETTER ||
            row->record.letter.kind != LETTER_OF_ORPHAN)
            continue;
        if (key == MAP_NONE || (key_equals(&row->record.letter.key, &sim->keys[key]) &&
                                row->record.letter.client == client))
            return &row->record.letter;
    }
    return NULL;
}

/* An order becomes one to give a letter of somebody who was gone to somebody who is there. */
void places_replay(struct sim *sim, struct letter_order *order)
{
    const client_id into = (client_id)sim_below(sim, SIM_CLIENTS);
    const struct letter_row *letter =
        places_change(sim) && order->verb == LETTER_REPLAY ? find_orphan(sim, MAP_NONE, 0) : NULL;
    if (letter == NULL || sim->is_absent[into])
        return;
    uint64_t key;
    memcpy(&key, letter->key.bytes, sizeof key);
    *order = (struct letter_order){
        .caller = order->caller,
        .verb = LETTER_REPLAY,
        .filter = {.number = letter->number, .class = CLASS_COUNT, .type = TYPE_COUNT},
        .has_into = true,
        .into = into,
        .into_key = sim->keys[(key - 1) / SIM_CLIENTS * SIM_CLIENTS + into],
    };
}

/* Nobody pays for what lies in a letter of his own and suits him. */
uint32_t places_free_key(const struct sim *sim, const struct ask *ask)
{
    if (!places_change(sim) || sim->has_skewed || ask->reuse == REUSE_NONE || ask->is_one_time ||
        ask->min_ttl_ms > 0 || ask->max_age_ms != UINT32_MAX || sim->disk.log_count > 0)
        return MAP_NONE;
    uint64_t key;
    memcpy(&key, ask->key.bytes, sizeof key);
    const struct letter_row *letter = find_orphan(sim, (uint32_t)key - 1, ask->client);
    return letter != NULL && letter->fresh_wall_ms > sim_wall_ms(sim) && letter->text != NULL &&
                   !letter->is_one_time && (letter->told == 0 || ask->reuse == REUSE_SHARED)
               ? (uint32_t)key - 1
               : MAP_NONE;
}

static uint32_t thing_of(const struct key *key)
{
    uint64_t number;
    memcpy(&number, key->bytes, sizeof number);
    return (uint32_t)number - 1;
}

/* A letter that was given to another client is asked for with the words of the one before. */
bool places_fit_params(const struct sim *sim, const struct blob *params, uint32_t key)
{
    const uint32_t first = key / SIM_CLIENTS * SIM_CLIENTS;
    for (uint32_t other = first; other < first + SIM_CLIENTS && places_change(sim); other++)
        if (slice_equals(blob_slice(params), blob_slice(sim->params[other])))
            return true;
    return slice_equals(blob_slice(params), blob_slice(sim->params[key]));
}

/* The operator may have given it to another client, whose key it has then. */
void places_note_letter(struct sim *sim, const struct letter_row *row)
{
    const uint32_t token =
        row->kind == LETTER_OF_ORPHAN ? token_of(sim, blob_slice(row->text)) : MAP_NONE;
    if (token == MAP_NONE)
        return;
    sim->tokens[token].is_lettered = true;
    sim->tokens[token].key = thing_of(&row->key);
}

/* What a crash took back is under the key that it had before. */
void places_rekey(struct sim *sim)
{
    for (size_t i = 0; i < sim->disk.row_count && places_change(sim); i++) {
        const struct record *record = &sim->disk.rows[i].record;
        if (!sim->disk.rows[i].is_used)
            continue;
        if (record->kind == RECORD_LETTER)
            places_note_letter(sim, &record->letter);
        if (record->kind == RECORD_SOLUTION)
            sim->tokens[token_of(sim, blob_slice(record->solution.text))].key =
                thing_of(&record->solution.key);
    }
}
