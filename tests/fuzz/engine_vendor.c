/* The vendor of the engine's world: it ends calls in every way that proto can classify. */
#include "engine_world.h"

#include <stdio.h>

struct error {
    enum error_class class;
    const char *code;
};

static const struct error errors[] = {
    {CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE"}, {CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE"},
    {CLASS_TRANSIENT, "ERROR_SERVER_ERROR"}, {CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST"},
    {CLASS_ACCOUNT, "ERROR_ZERO_BALANCE"},   {CLASS_CALLER, "ERROR_PAGEURL"},
    {CLASS_PROXY, "ERROR_BAD_PROXY"},        {CLASS_UNKNOWN, "ERROR_NEW_MOON"},
};

static void set_error(struct input *input, struct vendor_result *result)
{
    const uint8_t choice = input_byte(input);
    const struct error *error = &errors[choice % 8];
    result->class = error->class;
    memcpy(result->code, error->code, strlen(error->code) + 1);
    result->is_short = strcmp(error->code, "ERROR_ZERO_BALANCE") == 0;
    result->retry_after_ms = (choice & 8) != 0 ? (uint32_t)(choice >> 4) * 5000 : 0;
}

static void set_task(struct world *world, struct known_attempt *attempt)
{
    (void)snprintf(attempt->task, sizeof(attempt->task), "T%zu",
                   (size_t)(attempt - world->attempts) + 1);
}

/* A text begins with the two bytes of its key, so that one for something else would be seen. */
static struct blob *new_text(struct world *world, const struct key *key, bool is_repeated)
{
    char text[32] = {(char)key->bytes[0], (char)key->bytes[1]};
    world->solutions += !is_repeated;
    const int len = snprintf(text + 2, sizeof(text) - 2, "token %u", world->solutions);
    return blob_new((struct slice){.data = text, .len = (size_t)len + 2});
}

static void deliver(struct world *world, enum event_kind kind, struct vendor_result *result)
{
    struct event event = {.kind = kind};
    event.result = *result;
    world_step(world, &event);
    blob_unref(result->text);
    blob_unref(result->extra);
}

/* The one that the next byte chooses among those that fit, or NULL. */
static struct known_attempt *pick(struct world *world, struct input *input,
                                  bool (*fits)(const struct known_attempt *))
{
    size_t count = 0;
    for (size_t i = 0; i < world->attempt_count; i++)
        count += fits(&world->attempts[i]);
    if (count == 0)
        return NULL;
    size_t chosen = input_byte(input) % count;
    for (size_t i = 0; i < world->attempt_count; i++)
        if (fits(&world->attempts[i]) && chosen-- == 0)
            return &world->attempts[i];
    UNREACHABLE();
}

static bool is_submitting(const struct known_attempt *attempt)
{
    return attempt->is_submitting;
}

static bool is_polling(const struct known_attempt *attempt)
{
    return attempt->is_polling;
}

static bool is_any(const struct known_attempt *attempt)
{
    return attempt->id != 0;
}

bool world_end_submit(struct world *world, struct input *input)
{
    struct known_attempt *attempt = pick(world, input, is_submitting);
    if (attempt == NULL)
        return false;
    attempt->is_submitting = false;
    struct vendor_result result = {.attempt = attempt->id};
    switch (world->is_healing ? 0 : input_below(input, 8)) {
    case 5:
        result.outcome = OUTCOME_NOT_SENT;
        result.class = CLASS_TRANSIENT;
        memcpy(result.code, "ERROR_NOT_SENT", sizeof("ERROR_NOT_SENT"));
        break;
    case 6:
        result.outcome = OUTCOME_REJECTED;
        set_error(input, &result);
        break;
    case 7:
        result.outcome = OUTCOME_AMBIGUOUS;
        result.class = CLASS_AMBIGUOUS;
        memcpy(result.code, "ERROR_NO_REPLY", sizeof("ERROR_NO_REPLY"));
        break;
    default:
        set_task(world, attempt);
        result.outcome = OUTCOME_ACCEPTED;
        memcpy(result.task_id, attempt->task, TASK_ID_MAX);
        break;
    }
    deliver(world, EVENT_SUBMITTED, &result);
    return true;
}

bool world_end_poll(struct world *world, struct input *input)
{
    struct known_attempt *attempt = pick(world, input, is_polling);
    if (attempt == NULL)
        return false;
    attempt->is_polling = false;
    struct vendor_result result = {.attempt = attempt->id};
    const unsigned choice = world->is_healing ? 0 : input_below(input, 8);
    switch (choice) {
    case 4:
    case 5:
        result.outcome = OUTCOME_PENDING;
        result.class = CLASS_PENDING;
        break;
    case 6:
        result.outcome = OUTCOME_FAILED;
        set_error(input, &result);
        break;
    case 7:
        result.outcome = OUTCOME_UNHEARD;
        set_error(input, &result);
        break;
    default:
        result.outcome = OUTCOME_SOLVED;
        result.text = new_text(world, &attempt->key, choice == 3);
        result.extra = choice == 2 ? blob_new(SLICE_OF("{\"user_agent\":\"x\"}")) : NULL;
        break;
    }
    deliver(world, EVENT_POLLED, &result);
    return true;
}

bool world_end_probe(struct world *world, struct input *input)
{
    const enum probe probe = world->is_probing[PROBE_BALANCE] ? PROBE_BALANCE : PROBE_THREADS;
    if (!world->is_probing[probe])
        return false;
    const uint8_t choice = world->is_healing ? 0 : input_byte(input);
    world->is_probing[probe] = false;
    struct event event = {.kind = EVENT_PROBED};
    event.probed = (struct probed){.probe = probe, .is_ok = (choice & 3) != 3};
    if (!event.probed.is_ok) {
        event.probed.class = (choice & 4) != 0 ? CLASS_ACCOUNT : CLASS_TRANSIENT;
        memcpy(event.probed.code, "ERROR_PROBE", sizeof("ERROR_PROBE"));
    } else if (probe == PROBE_THREADS) {
        event.probed.has_threads = (choice & 8) == 0;
        event.probed.threads = 1 + (choice >> 5);
        event.probed.working_threads = (choice & 16) != 0 ? event.probed.threads : 0;
    } else {
        memcpy(event.probed.balance, (choice & 4) != 0 ? "0.0" : "1.5", 4);
    }
    world_step(world, &event);
    return true;
}

bool world_end_notice(struct world *world, struct input *input)
{
    if (world->notice_count == 0)
        return false;
    const size_t place = input_byte(input) % world->notice_count;
    struct event event = {.kind = EVENT_NOTIFIED};
    event.notified = (struct notified){
        .request = world->notices[place],
        .end = world->is_healing ? NOTICE_DELIVERED : (enum notify_end)input_below(input, 3),
    };
    if (event.notified.end == NOTICE_REFUSED)
        memcpy(event.notified.why, "HTTP_500", sizeof("HTTP_500"));
    world->notices[place] = world->notices[--world->notice_count];
    world_step(world, &event);
    return true;
}

/* About any attempt there ever was, and with any task id: the nonce is all we know to be genuine. */
void world_call_back(struct world *world, struct input *input)
{
    const struct known_attempt *attempt = pick(world, input, is_any);
    const uint8_t choice = input_byte(input);
    static const struct key nobody = {{WORLD_KEYS}};
    struct vendor_result result = {.attempt = attempt == NULL ? choice + 1U : attempt->id};
    result.caller = world_visit(world, VISIT_CALLBACK, 0, 0);
    if (attempt != NULL && (choice & 1) == 0)
        memcpy(result.task_id, attempt->task, TASK_ID_MAX);
    else if ((choice & 2) != 0)
        memcpy(result.task_id, "T-other", sizeof("T-other"));
    switch (choice >> 2 & 7) {
    case 5:
        result.outcome = OUTCOME_FAILED;
        set_error(input, &result);
        break;
    case 6:
        result.outcome = OUTCOME_PENDING;
        result.class = CLASS_PENDING;
        memcpy(result.code, "CAPCHA_NOT_READY", sizeof("CAPCHA_NOT_READY"));
        break;
    case 7:
        result.outcome = OUTCOME_UNHEARD;
        result.class = CLASS_TRANSIENT;
        memcpy(result.code, "ERROR_BAD_SOLUTION", sizeof("ERROR_BAD_SOLUTION"));
        break;
    default:
        result.outcome = OUTCOME_SOLVED;
        result.text =
            new_text(world, attempt == NULL ? &nobody : &attempt->key, (choice & 32) != 0);
        break;
    }
    deliver(world, EVENT_CALLBACK, &result);
}
