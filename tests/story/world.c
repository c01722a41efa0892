#include "world.h"
#include "../engine_defaults.h"

#include "base/assert.h"
#include "lines.h"

#include <solvegate/words.h>

#include <stdlib.h>

#define LOG_MAX (UINT32_C(1) << 22)
#define QUIET_STEPS 512
/* More ticks than this without time moving mean that the engine asks for a tick for nothing. */
#define TICKS_MAX 1000000

/* Freed by the teardown also when a test ends in the middle. */
static struct world *current;

/* ---- the world itself -------------------------------------------------------------------- */

struct engine_options world_options(void)
{
    struct engine_options options;
    engine_options_init(&options);
    options.max_requests = 64;
    options.max_flights = 32;
    options.max_per_flight = 16;
    options.max_callers = 64;
    options.max_solutions = 16;
    options.max_idempotency = 16;
    options.max_finished = 16;
    options.max_letters = 16;
    options.wake_batch = 16;
    options.slots = 10;
    options.retry_jitter_ms = 0;
    options.fallback_after_ms = 120000;
    return options;
}

static void world_free(struct world *world)
{
    if (world == NULL)
        return;
    engine_free(world->engine);
    disk_close(&world->disk);
    disk_close(&world->will);
    blob_unref(world->pool_params);
    buf_close(&world->log);
    free(world->callers);
    free(world->attempts);
    free(world->requests);
    free(world->claims);
    free(world);
}

struct world *world_new(const struct engine_options *options)
{
    world_free(current);
    const struct engine_options usual = world_options();
    struct world *world = calloc(1, sizeof *world);
    ASSERT(world != NULL);
    current = world;
    buf_init(&world->log, LOG_MAX);
    rand_init(&world->rand, 1);
    world->options = options == NULL ? usual : *options;
    world->engine = engine_new(&world->options, WORLD_START_MS, WORLD_START_WALL_MS);
    engine_set_trace(world->engine, lines_add_trace, world);
    engine_check(world->engine);
    return world;
}

int world_end(void **state)
{
    (void)state;
    const bool is_told = current == NULL || current->log.len == 0;
    if (!is_told)
        print_error("nobody expected:\n%.*s", (int)current->log.len, current->log.data);
    world_free(current);
    current = NULL;
    return is_told ? 0 : -1;
}

static void take_actions(struct world *world)
{
    struct action action;
    while (engine_next_action(world->engine, &action)) {
        lines_add_action(world, &action);
        if (action.kind == ACTION_JOURNAL)
            disk_append(&world->disk, &action.record);
        else
            action_close(&action);
    }
}

/* Applies one event, takes every action and lets the engine check itself. */
void world_step(struct world *world, struct event *event)
{
    event->now_ms = WORLD_START_MS + world->now_ms;
    event->wall_ms = WORLD_START_WALL_MS + world->wall_skew_ms + (int64_t)world->now_ms;
    event->random = rand_u64(&world->rand);
    engine_step(world->engine, event);
    take_actions(world);
    /* A crowd is checked now and then: the check looks at everything there is. */
    if (!world->is_quiet || ++world->steps % QUIET_STEPS == 0)
        engine_check(world->engine);
}

void tick(struct world *world)
{
    struct event event = {.kind = EVENT_TICK};
    world_step(world, &event);
}

void pass(struct world *world, uint64_t ms)
{
    const uint64_t until_ms = world->now_ms + ms;
    for (unsigned ticks = 0;; ticks++) {
        ASSERT(ticks < TICKS_MAX);
        const uint64_t deadline_ms = engine_next_deadline(world->engine);
        if (deadline_ms == UINT64_MAX || deadline_ms > WORLD_START_MS + until_ms)
            break;
        if (deadline_ms > WORLD_START_MS + world->now_ms)
            world->now_ms = deadline_ms - WORLD_START_MS;
        tick(world);
    }
    world->now_ms = until_ms;
}

const struct stats *stats_of(const struct world *world)
{
    return engine_stats(world->engine);
}

struct gauges gauges_of(const struct world *world)
{
    struct gauges gauges;
    engine_gauges(world->engine, &gauges);
    return gauges;
}

/* More letters than any story writes. */
#define LETTERS_MOST 4096

static bool letter_matches(const struct letter_view *view, const struct letter_filter *filter)
{
    return (filter->number == 0 || view->number == filter->number) &&
           (!filter->has_client || view->client == filter->client) &&
           (filter->class == CLASS_COUNT || view->class == filter->class) &&
           (filter->type == TYPE_COUNT || view->type == filter->type) &&
           (filter->code[0] == '\0' || slice_equals(view->code, slice_from(filter->code)));
}

size_t engine_list_letters(const struct engine *engine, const struct letter_filter *filter,
                           uint64_t *cursor, struct letter_view *views, size_t room,
                           uint32_t *total)
{
    struct letter_view view;
    size_t count = 0;
    bool has_more = false;
    const uint64_t before = *cursor == 0 ? LETTERS_MOST : *cursor;
    *total = 0;
    for (uint64_t number = LETTERS_MOST; number > 0; number--) {
        if (!engine_find_letter(engine, number, &view) || !letter_matches(&view, filter))
            continue;
        ++*total;
        has_more = has_more || (number < before && count == room);
        if (number >= before || count == room)
            continue;
        views[count++] = view;
        *cursor = number;
    }
    *cursor = has_more ? *cursor : 0;
    return count;
}

/* ---- callers ----------------------------------------------------------------------------- */

caller_id world_caller(struct world *world, const char *name)
{
    world->callers = realloc(world->callers, (world->caller_count + 1) * sizeof *world->callers);
    ASSERT(world->callers != NULL && strlen(name) < WORLD_NAME_MAX);
    struct world_caller *caller = &world->callers[world->caller_count++];
    *caller = (struct world_caller){.is_answered = false};
    memcpy(caller->name, name, strlen(name) + 1);
    return world->caller_count;
}

static struct ask ask_of(const struct asking *asking, caller_id caller)
{
    struct ask ask = {
        .caller = caller,
        .client = asking->client,
        .type = asking->type,
        .reuse = asking->reuse == REUSE_DEFAULT ? REUSE_SHARED : asking->reuse,
        .is_one_time = asking->is_one_time,
        .id_layout = asking->id_layout,
        .dialect = asking->dialect,
        .wants_rest = asking->wants_rest,
        .is_id_told = asking->is_told,
        .has_idempotency = asking->idempotency != NULL,
        .priority = asking->priority,
        .pool = asking->pool,
        .hold_ms = asking->at_once || asking->is_told ? 0
                   : asking->hold_ms == 0             ? WORLD_HOLD_MS
                                                      : asking->hold_ms,
        .min_ttl_ms = asking->min_ttl_ms,
        .max_age_ms = asking->max_age_ms == 0 ? UINT32_MAX : asking->max_age_ms,
        .has_max_retries = asking->has_max_retries,
        .max_retries = asking->max_retries,
        .retry_delay_ms = asking->retry_delay_ms,
        .key = key_named(asking->key),
    };
    if (ask.has_idempotency)
        ask.idempotency = key_named(asking->idempotency);
    return ask;
}

void world_ask(struct world *world, const char *who, struct asking asking)
{
    struct event event = {.kind = EVENT_ASK};
    event.ask = ask_of(&asking, world_caller(world, who));
    event.ask.params = blob_new(slice_from(asking.host == NULL ? asking.key : asking.host));
    if (asking.host != NULL)
        event.ask.host = blob_slice(event.ask.params);
    if (asking.pingback != NULL)
        event.ask.pingback = blob_new(slice_from(asking.pingback));
    world_step(world, &event);
    blob_unref(event.ask.params);
    blob_unref(event.ask.pingback);
}

struct outlook world_explain(struct world *world, struct asking asking)
{
    const struct ask ask = ask_of(&asking, 0);
    struct outlook outlook;
    engine_explain(world->engine, &ask, &outlook);
    return outlook;
}

/* "r7" is the seventh; "r0" is one that never was. */
request_id world_request(const struct world *world, const char *name)
{
    const size_t number = strtoul(name + 1, NULL, 10);
    if (name[0] != 'r' || number > world->request_count)
        fail_msg("nobody has heard of request %s", name);
    return number == 0 ? 12345 : world->requests[number - 1];
}

void look(struct world *world, const char *who, const char *request, uint32_t hold_ms)
{
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){.caller = world_caller(world, who),
                               .id = world_request(world, request),
                               .hold_ms = hold_ms};
    world_step(world, &event);
}

void look_as(struct world *world, const char *who, client_id client, const char *request)
{
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){
        .caller = world_caller(world, who), .client = client, .id = world_request(world, request)};
    world_step(world, &event);
}

void detach(struct world *world, const char *who, const char *request)
{
    struct event event = {.kind = EVENT_DETACH};
    event.detach =
        (struct detach){.caller = world_caller(world, who), .id = world_request(world, request)};
    world_step(world, &event);
}

static void report(struct world *world, const char *who, const char *request, bool is_good)
{
    struct event event = {.kind = EVENT_REPORT};
    event.report = (struct report){.caller = world_caller(world, who),
                                   .id = world_request(world, request),
                                   .is_good = is_good};
    world_step(world, &event);
}

void report_good(struct world *world, const char *who, const char *request)
{
    report(world, who, request, true);
}

void report_bad(struct world *world, const char *who, const char *request)
{
    report(world, who, request, false);
}

void account_as(struct world *world, const char *who, client_id client, enum probe probe)
{
    struct event event = {.kind = EVENT_ACCOUNT};
    event.account =
        (struct account){.caller = world_caller(world, who), .client = client, .probe = probe};
    world_step(world, &event);
}

void account(struct world *world, const char *who, enum probe probe)
{
    account_as(world, who, 0, probe);
}

const char *peek(struct world *world, const char *request)
{
    struct answer answer;
    if (!engine_peek(world->engine, 0, world_request(world, request), &answer))
        return NULL;
    answer_close(&answer);
    return request_state_name(answer.state);
}

void gone(struct world *world, const char *who)
{
    size_t place = world->caller_count;
    while (place > 0 && strcmp(world->callers[place - 1].name, who) != 0)
        place--;
    ASSERT(place > 0);
    world->callers[place - 1].is_gone = true;
    struct event event = {.kind = EVENT_GONE};
    event.gone = place;
    world_step(world, &event);
}

/* ---- the vendor -------------------------------------------------------------------------- */

static struct world_attempt *attempt_named(struct world *world, const char *name)
{
    const size_t number = strtoul(name + 1, NULL, 10);
    if (name[0] != 'a' || number == 0 || number > world->attempt_count)
        fail_msg("nobody has heard of attempt %s", name);
    return &world->attempts[number - 1];
}

static void copy(char *out, size_t room, const char *text)
{
    ASSERT(strlen(text) < room);
    memcpy(out, text, strlen(text) + 1);
}

static void end_submit(struct world *world, const char *name, struct vendor_result result)
{
    struct world_attempt *attempt = attempt_named(world, name);
    if (!attempt->is_submitting)
        fail_msg("%s is not being submitted", name);
    attempt->is_submitting = false;
    result.attempt = attempt->id;
    result.is_short = strcmp(result.code, "ERROR_ZERO_BALANCE") == 0;
    struct event event = {.kind = EVENT_SUBMITTED};
    event.result = result;
    world_step(world, &event);
}

void accepted(struct world *world, const char *attempt, const char *task)
{
    struct vendor_result result = {.outcome = OUTCOME_ACCEPTED};
    copy(result.task_id, sizeof result.task_id, task);
    end_submit(world, attempt, result);
}

void rejected(struct world *world, const char *attempt, enum error_class class, const char *code)
{
    rejected_until(world, attempt, class, code, 0);
}

void rejected_until(struct world *world, const char *attempt, enum error_class class,
                    const char *code, uint32_t retry_after_ms)
{
    struct vendor_result result = {
        .outcome = OUTCOME_REJECTED, .class = class, .retry_after_ms = retry_after_ms};
    copy(result.code, sizeof result.code, code);
    end_submit(world, attempt, result);
}

void not_sent(struct world *world, const char *attempt)
{
    struct vendor_result result = {.outcome = OUTCOME_NOT_SENT, .class = CLASS_TRANSIENT};
    copy(result.code, sizeof result.code, "ERROR_NOT_SENT");
    end_submit(world, attempt, result);
}

void ambiguous(struct world *world, const char *attempt)
{
    const struct vendor_result result = {.outcome = OUTCOME_AMBIGUOUS, .class = CLASS_AMBIGUOUS};
    end_submit(world, attempt, result);
}

void withdrawn(struct world *world, const char *attempt)
{
    end_submit(world, attempt, (struct vendor_result){.outcome = OUTCOME_WITHDRAWN});
}

static void end_poll(struct world *world, const char *name, struct vendor_result result)
{
    struct world_attempt *attempt = attempt_named(world, name);
    if (!attempt->is_polling)
        fail_msg("%s is not being polled", name);
    attempt->is_polling = false;
    result.attempt = attempt->id;
    struct event event = {.kind = EVENT_POLLED};
    event.result = result;
    world_step(world, &event);
}

void pending(struct world *world, const char *attempt)
{
    const struct vendor_result result = {.outcome = OUTCOME_PENDING, .class = CLASS_PENDING};
    end_poll(world, attempt, result);
}

void solved(struct world *world, const char *attempt, const char *text)
{
    solved_with(world, attempt, text, NULL);
}

void solved_with(struct world *world, const char *attempt, const char *text, const char *extra)
{
    struct vendor_result result = {.outcome = OUTCOME_SOLVED};
    result.text = blob_new(slice_from(text));
    result.extra = extra == NULL ? NULL : blob_new(slice_from(extra));
    end_poll(world, attempt, result);
    blob_unref(result.text);
    blob_unref(result.extra);
}

void failed(struct world *world, const char *attempt, enum error_class class, const char *code)
{
    struct vendor_result result = {.outcome = OUTCOME_FAILED, .class = class};
    copy(result.code, sizeof result.code, code);
    end_poll(world, attempt, result);
}

void unheard(struct world *world, const char *attempt, uint32_t retry_after_ms)
{
    const struct vendor_result result = {
        .outcome = OUTCOME_UNHEARD, .class = CLASS_TRANSIENT, .retry_after_ms = retry_after_ms};
    end_poll(world, attempt, result);
}

void poll_withdrawn(struct world *world, const char *attempt)
{
    end_poll(world, attempt, (struct vendor_result){.outcome = OUTCOME_WITHDRAWN});
}

static struct vendor_result bytes_of(const char *bytes)
{
    struct vendor_result result = {.outcome = OUTCOME_UNDELIVERABLE, .class = CLASS_UNKNOWN};
    copy(result.code, sizeof result.code, "ERROR_BAD_SOLUTION");
    result.text = blob_new(slice_from(bytes));
    return result;
}

void undeliverable(struct world *world, const char *attempt, const char *bytes)
{
    const struct vendor_result result = bytes_of(bytes);
    end_poll(world, attempt, result);
    blob_unref(result.text);
}

static void call_back(struct world *world, const char *name, const char *task,
                      struct vendor_result result)
{
    result.attempt = attempt_named(world, name)->id;
    /* The vendor's call waits at a door like everybody, under the name of its attempt. */
    result.caller = world_caller(world, name);
    copy(result.task_id, sizeof result.task_id, task);
    struct event event = {.kind = EVENT_CALLBACK};
    event.result = result;
    world_step(world, &event);
}

void callback(struct world *world, const char *attempt, const char *task, const char *text)
{
    const struct vendor_result result = {.outcome = OUTCOME_SOLVED,
                                         .text = blob_new(slice_from(text))};
    call_back(world, attempt, task, result);
    blob_unref(result.text);
}

void callback_failed(struct world *world, const char *attempt, const char *task,
                     enum error_class class, const char *code)
{
    struct vendor_result result = {.outcome = OUTCOME_FAILED, .class = class};
    copy(result.code, sizeof result.code, code);
    call_back(world, attempt, task, result);
}

void callback_undeliverable(struct world *world, const char *attempt, const char *task,
                            const char *bytes)
{
    const struct vendor_result result = bytes_of(bytes);
    call_back(world, attempt, task, result);
    blob_unref(result.text);
}

void callback_empty(struct world *world, const char *attempt, const char *task)
{
    call_back(world, attempt, task, (struct vendor_result){.outcome = OUTCOME_PENDING});
}

static void end_probe(struct world *world, const struct probed *probed)
{
    struct event event = {.kind = EVENT_PROBED};
    event.probed = *probed;
    world_step(world, &event);
}

void threads(struct world *world, uint32_t working, uint32_t all)
{
    end_probe(world, &(struct probed){.probe = PROBE_THREADS,
                                      .is_ok = true,
                                      .has_threads = true,
                                      .threads = all,
                                      .working_threads = working});
}

void balance(struct world *world, const char *amount)
{
    struct probed probed = {.probe = PROBE_BALANCE, .is_ok = true};
    copy(probed.balance, sizeof probed.balance, amount);
    end_probe(world, &probed);
}

void probe_failed(struct world *world, enum probe probe, enum error_class class, const char *code)
{
    struct probed probed = {.probe = probe, .class = class};
    copy(probed.code, sizeof probed.code, code);
    probed.is_short = strcmp(code, "ERROR_ZERO_BALANCE") == 0;
    end_probe(world, &probed);
}

void solve(struct world *world, const char *attempt, const char *task, const char *text)
{
    accepted(world, attempt, task);
    pass(world, 6000);
    solved(world, attempt, text);
}

/* ---- the shell --------------------------------------------------------------------------- */

void durable(struct world *world, journal_seq seq)
{
    struct event event = {.kind = EVENT_DURABLE};
    event.durable = seq;
    world_step(world, &event);
}

void crash(struct world *world, uint64_t kept)
{
    const size_t before = world->disk.count - (size_t)world->seq;
    disk_crash(&world->disk, before + (size_t)(kept < world->seq ? kept : world->seq));
    for (size_t i = 0; i < world->caller_count; i++)
        world->callers[i].is_gone = true;
    for (size_t i = 0; i < world->attempt_count; i++)
        world->attempts[i].is_submitting = world->attempts[i].is_polling = false;
    for (size_t i = 0; i < world->claim_count; i++)
        world->claims[i].is_asking = false;
    engine_free(world->engine);
    world->seq = 0;
    world->engine = engine_new(&world->options, WORLD_START_MS + world->now_ms,
                               WORLD_START_WALL_MS + world->wall_skew_ms + (int64_t)world->now_ms);
    engine_set_trace(world->engine, lines_add_trace, world);
    disk_load(&world->disk, world->disk.count, world->engine);
    if (world->kept_number != 0)
        engine_restore_claim(world->engine, &world->kept_claim, world->kept_number);
    engine_restored(world->engine);
    take_actions(world);
    engine_check(world->engine);
}

void store_is(struct world *world, bool is_writable)
{
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = is_writable;
    world_step(world, &event);
}

void store_goes_away(struct world *world)
{
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_away = true;
    world_step(world, &event);
}

void stand_still(struct world *world, uint64_t ms)
{
    struct event event = {.kind = EVENT_STANDSTILL};
    world->now_ms += ms;
    world_step(world, &event);
}

void drain(struct world *world)
{
    struct event event = {.kind = EVENT_DRAIN};
    world_step(world, &event);
}
