#include "engine/find.h"

#include "engine/errand.h"
#include "engine/follow.h"
#include "engine/hold.h"
#include "engine/look_errand.h"
#include "engine/placed.h"
#include "engine/request.h"

#include <stdlib.h>

/* A store that is slower is as good as away for a caller who wants to know the state at once. */
#define GLANCE_MS 5000
/* How long what was found is remembered: longer than any client's poll interval. */
#define KEEP_MS 15000
#define RETRY_AFTER_MS 1000
/* For so long after the store was away it may not have all ids that gateways told from their memory meanwhile. */
#define CATCH_UP_MS 10000
/* Ends that are still to be looked at; of more of them some are missed, as wake-ups may be. */
#define NAMES_MAX 64
/* Ids of a client that the store is asked for while nobody waits for them: lists of ids are answered at once, so
 * nothing else slows down a client that asks for more and more of them. */
#define HINTS_MAX 64

/* An id that callers ask for here and that another node has, or nobody. */
struct search {
    struct table_node node;   /* by id */
    struct table_node waking; /* by the claim's name, while its end is waited for */
    slab_id id;
    struct list link;         /* in the order of the latest questions, while nobody waits for it */
    struct list glances;      /* callers who are told whatever comes next */
    struct list waits;        /* callers who are told the end */
    struct list told;         /* callers who are being told */
    struct list tell;         /* of the finding, while there are some */
    struct wheel_timer timer; /* ask again, or forget it */
    struct answer answer;     /* what is known; its blobs are owned */
    uint64_t bytes;           /* of its blobs */
    uint64_t heard_ms;        /* when the store last answered, or did not */
    uint64_t errand;          /* ticket of what the node that gave the id is asked, or 0 */
    client_id client;
    bool is_asking; /* the store, or that node */
    bool is_sure;   /* that node does not know it */
    bool is_hint;   /* it is asked for nobody in particular */
    bool is_woken;  /* what is known may be outdated */
};

struct finding {
    struct slab slab;
    struct table by_id, by_name;
    struct list idle;            /* searches that nobody waits for, the oldest first */
    struct list telling;         /* searches with callers to be told */
    uint64_t bytes;              /* of all solutions that are remembered */
    struct key names[NAMES_MAX]; /* a ring of claims that ended */
    uint32_t name_first, name_count;
    bool is_store_away;
    uint64_t sure_ms; /* from then on an id is unknown if the store says so */
};

void find_init(struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    if (!options->store_is_shared)
        return;
    struct finding *finding = calloc(1, sizeof *finding);
    ASSERT(finding != NULL);
    slab_init(&finding->slab, sizeof(struct search), options->max_callers);
    table_init(&finding->by_id, options->max_callers, options->secret);
    table_init(&finding->by_name, options->max_callers, options->secret);
    list_init(&finding->idle);
    list_init(&finding->telling);
    engine->finding = finding;
}

void find_close(struct engine *engine)
{
    struct finding *finding = engine->finding;
    if (finding == NULL)
        return;
    for (slab_id id = 0; (id = slab_next(&finding->slab, id)) != 0;)
        answer_close(&((struct search *)slab_get(&finding->slab, id))->answer);
    slab_close(&finding->slab);
    table_close(&finding->by_id);
    table_close(&finding->by_name);
    free(finding);
    engine->finding = NULL;
}

/* ---- searches ------------------------------------------------------------------------------ */

static struct search *find_search(const struct finding *finding, client_id client, request_id id)
{
    const struct key key = key_from_u64(id);
    for (struct table_node *node = table_find(&finding->by_id, &key); node != NULL;
         node = table_find_next(node)) {
        struct search *search = CONTAINER_OF(node, struct search, node);
        if (search->client == client)
            return search;
    }
    return NULL;
}

static bool is_wanted(const struct search *search)
{
    return !list_is_empty(&search->glances) || !list_is_empty(&search->waits) ||
           !list_is_empty(&search->told);
}

static bool is_over(const struct answer *answer)
{
    return answer->refusal == REFUSAL_UNKNOWN_ID ||
           (answer->refusal == REFUSAL_NONE &&
            (answer->state == REQUEST_SOLVED || answer->state == REQUEST_FAILED));
}

static void forget_answer(struct engine *engine, struct search *search)
{
    engine->finding->bytes -= search->bytes;
    answer_close(&search->answer);
    search->bytes = 0;
    search->answer =
        (struct answer){.refusal = REFUSAL_STORE_AWAY, .retry_after_ms = RETRY_AFTER_MS};
}

static void free_search(struct engine *engine, struct search *search)
{
    struct finding *finding = engine->finding;
    ASSERT(!is_wanted(search));
    forget_answer(engine, search);
    list_unlink(&search->link);
    list_unlink(&search->tell);
    wheel_cancel(&engine->wheel, &search->timer);
    if (search->waking.place != NULL)
        table_remove(&finding->by_name, &search->waking);
    table_remove(&finding->by_id, &search->node);
    slab_free(&finding->slab, search->id);
}

/* Forgets the oldest one that nobody waits for, if there is no room; NULL: callers wait for all. One that the store is
 * asked for has its place until the answer comes, or any number of questions would be on their way. */
static struct search *new_search(struct engine *engine, client_id client, request_id id)
{
    struct finding *finding = engine->finding;
    slab_id slot = 0;
    struct search *oldest = list_is_empty(&finding->idle)
                                ? NULL
                                : CONTAINER_OF(list_first(&finding->idle), struct search, link);
    if (finding->slab.used == finding->slab.capacity && oldest != NULL && !oldest->is_asking)
        free_search(engine, oldest);
    struct search *search = slab_alloc(&finding->slab, &slot);
    if (search == NULL)
        return NULL;
    search->id = slot;
    search->client = client;
    search->node.key = key_from_u64(id);
    search->answer.refusal = REFUSAL_STORE_AWAY;
    search->answer.retry_after_ms = RETRY_AFTER_MS;
    list_init(&search->link);
    list_init(&search->glances);
    list_init(&search->waits);
    list_init(&search->told);
    list_init(&search->tell);
    wheel_timer_init(&search->timer, TIMER_SEARCH);
    table_insert(&finding->by_id, &search->node);
    return search;
}

static request_id id_of(const struct search *search)
{
    request_id id;
    memcpy(&id, search->node.key.bytes, sizeof id);
    return id;
}

static void send(struct engine *engine, struct search *search)
{
    if (search->is_asking)
        return;
    struct find *find = &engine_push(engine, ACTION_FIND)->find;
    find->id = id_of(search);
    find->client = search->client;
    find->ticket = search->id;
    search->is_asking = true;
    search->is_sure = search->is_woken = false;
    wheel_cancel(&engine->wheel, &search->timer);
}

/* Nobody asks the store again for a while: it answered a moment ago, and nothing was heard since. */
static bool is_fresh(const struct engine *engine, const struct search *search)
{
    return search->heard_ms != 0 && !search->is_asking && !search->is_woken &&
           (is_over(&search->answer) || engine->now_ms < search->heard_ms + FOLLOW_ASK_MS);
}

/* ---- telling ------------------------------------------------------------------------------- */

static void tell(struct engine *engine, const struct search *search, caller_id caller)
{
    struct action *action = engine_push(engine, ACTION_ANSWER);
    action->answer = search->answer;
    action->answer.caller = caller;
    (void)blob_ref(action->answer.text);
    (void)blob_ref(action->answer.extra);
}

/* Large answers count as several. */
static uint32_t cost_of(const struct search *search)
{
    return 1 + (uint32_t)(search->bytes / ANSWER_UNIT_BYTES);
}

static void tell_some(struct engine *engine)
{
    struct finding *finding = engine->finding;
    uint32_t spent = 0;
    while (!list_is_empty(&finding->telling) && spent < engine->options.wake_batch) {
        struct search *search = CONTAINER_OF(list_first(&finding->telling), struct search, tell);
        while (!list_is_empty(&search->told) && spent < engine->options.wake_batch) {
            struct hold *hold = CONTAINER_OF(list_first(&search->told), struct hold, link);
            const caller_id caller = hold->by_caller.number;
            hold_free(engine, hold);
            tell(engine, search, caller);
            spent += cost_of(search);
        }
        if (list_is_empty(&search->told))
            list_unlink(&search->tell);
    }
}

static void tell_all(struct engine *engine, struct search *search)
{
    const bool is_first = list_is_empty(&engine->finding->telling);
    list_splice(&search->told, &search->glances);
    if (is_over(&search->answer))
        list_splice(&search->told, &search->waits);
    if (!list_is_empty(&search->told) && list_is_empty(&search->tell))
        list_append(&engine->finding->telling, &search->tell);
    if (is_first)
        tell_some(engine);
}

/* ---- looking ------------------------------------------------------------------------------- */

static void await(struct engine *engine, struct search *search, const struct look *look)
{
    if (!request_may_wait(engine, look->client)) {
        tell(engine, search, look->caller);
        return;
    }
    const bool is_glance = look->hold_ms == 0;
    struct hold *hold = hold_for_search(engine, search, search->client, look->caller,
                                        is_glance ? GLANCE_MS : look->hold_ms);
    list_append(is_glance ? &search->glances : &search->waits, &hold->link);
    list_unlink(&search->link);
    if (!search->is_asking)
        wheel_arm(&engine->wheel, &search->timer, search->heard_ms + FOLLOW_ASK_MS);
}

void find_on_left(struct engine *engine, struct search *search)
{
    if (list_is_empty(&search->told))
        list_unlink(&search->tell);
    if (!is_wanted(search) && list_is_empty(&search->link))
        list_append(&engine->finding->idle, &search->link);
}

/* May another node have given this id? */
static bool may_exist(const struct engine *engine, request_id id)
{
    return engine->finding != NULL && request_id_may_exist(id);
}

static void refuse(struct engine *engine, caller_id caller, enum refusal refusal,
                   uint32_t retry_after_ms)
{
    if (caller != 0)
        request_refuse(engine, caller, refusal, SLICE_NONE, retry_after_ms);
}

/* A look without a caller only makes the answer to the next one better. */
static bool is_too_much(const struct engine *engine, const struct look *look)
{
    return look->caller == 0 && engine->clients[look->client].hints >= HINTS_MAX;
}

static void send_hint(struct engine *engine, struct search *search)
{
    if (search->is_asking)
        return;
    search->is_hint = true;
    engine->clients[search->client].hints++;
    send(engine, search);
}

void find_look(struct engine *engine, const struct look *look)
{
    if (!may_exist(engine, look->id)) {
        refuse(engine, look->caller, REFUSAL_UNKNOWN_ID, 0);
        return;
    }
    if (is_too_much(engine, look))
        return;
    struct search *search = find_search(engine->finding, look->client, look->id);
    if (search == NULL)
        search = new_search(engine, look->client, look->id);
    if (search == NULL) {
        refuse(engine, look->caller, REFUSAL_FULL_REQUESTS, RETRY_AFTER_MS);
        return;
    }
    const bool is_known = is_fresh(engine, search);
    if (look->caller != 0 && is_known && (look->hold_ms == 0 || is_over(&search->answer)))
        tell(engine, search, look->caller);
    else if (look->caller != 0)
        await(engine, search, look);
    if (!is_known && look->caller == 0)
        send_hint(engine, search);
    else if (!is_known)
        send(engine, search);
    find_on_left(engine, search);
}

bool find_peek(const struct engine *engine, client_id client, request_id id, struct answer *answer)
{
    *answer = (struct answer){.refusal = REFUSAL_UNKNOWN_ID};
    if (!may_exist(engine, id))
        return false;
    const struct search *search = find_search(engine->finding, client, id);
    *answer = (struct answer){.id = id, .state = REQUEST_QUEUED};
    if (search == NULL || search->answer.refusal == REFUSAL_STORE_AWAY)
        return false;
    *answer = search->answer;
    (void)blob_ref(answer->text);
    (void)blob_ref(answer->extra);
    return true;
}

void find_outdate(struct engine *engine, client_id client, request_id id)
{
    struct search *search =
        engine->finding == NULL ? NULL : find_search(engine->finding, client, id);
    if (search != NULL)
        search->is_woken = true;
}

void find_on_hold_timer(struct engine *engine, struct hold *hold)
{
    struct search *search = hold->search;
    const caller_id caller = hold->by_caller.number;
    hold_free(engine, hold);
    tell(engine, search, caller);
}

/* ---- what the store says ------------------------------------------------------------------- */

static void fill_solution(struct engine *engine, struct search *search,
                          const struct solution_row *row)
{
    struct answer *answer = &search->answer;
    const int64_t age_ms = engine->wall_ms - row->born_wall_ms;
    const int64_t left_ms = row->expires_wall_ms - engine->wall_ms;
    answer->state = REQUEST_SOLVED;
    answer->type = row->type;
    answer->text = blob_ref(row->text);
    answer->extra = blob_ref(row->extra);
    answer->age_ms = age_ms > 0 ? (uint64_t)age_ms : 0;
    answer->expires_in_ms = left_ms > 0 ? (uint64_t)left_ms : 0;
    answer->solve_ms = row->solve_ms;
    answer->is_single = !row->is_shared;
    answer->attempts = row->attempts;
    memcpy(answer->task_id, row->task_id, TASK_ID_MAX);
    search->bytes = row->text->len + (row->extra == NULL ? 0 : row->extra->len);
    engine->finding->bytes += search->bytes;
}

static void fill(struct engine *engine, struct search *search, const struct found *found)
{
    struct answer *answer = &search->answer;
    forget_answer(engine, search);
    *answer = (struct answer){.id = id_of(search), .source = found->source};
    answer->attempts = found->attempts;
    if (found->result == FOUND_UNKNOWN) {
        answer->refusal = REFUSAL_UNKNOWN_ID;
    } else if (found->result == FOUND_SOLVED) {
        fill_solution(engine, search, found->solution);
    } else if (found->result == FOUND_FAILED) {
        answer->state = REQUEST_FAILED;
        answer->class = found->class;
        memcpy(answer->code, found->code, ERROR_CODE_MAX);
    } else {
        answer->state = found->is_solving ? REQUEST_SOLVING : REQUEST_QUEUED;
    }
}

static void set_name(struct engine *engine, struct search *search, const struct found *found)
{
    struct table *table = &engine->finding->by_name;
    if (search->waking.place != NULL)
        table_remove(table, &search->waking);
    if (found->result != FOUND_WAITING || !found->has_name)
        return;
    search->waking.key = found->name;
    table_insert(table, &search->waking);
}

/* Solutions beyond the limit are told and not remembered. */
static uint64_t keep_ms(const struct engine *engine, const struct search *search)
{
    const bool is_large = engine->finding->bytes > engine->options.max_finished_bytes;
    /* A store that comes back may hear of an id from the node that told it only a moment later. */
    if (search->answer.refusal == REFUSAL_UNKNOWN_ID)
        return search->is_sure ? KEEP_MS : FOLLOW_ASK_MS;
    if (is_over(&search->answer))
        return is_large && search->bytes > 0 ? 0 : KEEP_MS;
    return list_is_empty(&search->waits) ? KEEP_MS : FOLLOW_ASK_MS;
}

void find_on_store(struct engine *engine)
{
    struct finding *finding = engine->finding;
    if (finding == NULL)
        return;
    if (finding->is_store_away && !engine->store_is_away)
        finding->sure_ms = engine->now_ms + CATCH_UP_MS;
    finding->is_store_away = engine->store_is_away;
}

/* The store did not answer, or may hear of this id a moment later from the gateway that told it. Finds have
 * a connection of their own, which may be back before the writer's is. */
static bool is_unsure(const struct engine *engine, enum found_result result)
{
    const struct finding *finding = engine->finding;
    return result == FOUND_UNAVAILABLE ||
           (result == FOUND_UNKNOWN &&
            (finding->is_store_away || engine->now_ms < finding->sure_ms));
}

static void settle(struct engine *engine, struct search *search, const struct found *found)
{
    search->is_asking = false;
    search->errand = 0;
    engine->clients[search->client].hints -= search->is_hint;
    search->is_hint = false;
    search->heard_ms = engine->now_ms;
    if (!is_unsure(engine, found->result)) {
        set_name(engine, search, found);
        fill(engine, search, found);
    }
    wheel_arm(&engine->wheel, &search->timer, engine->now_ms + keep_ms(engine, search));
    const bool is_outdated =
        search->is_woken && !is_over(&search->answer) && !list_is_empty(&search->waits);
    tell_all(engine, search);
    /* The end may have come between the store's answer and now. */
    if (is_outdated)
        send(engine, search);
}

/* The store has no row of it, but the node that gave the id may remember it. */
static void ask_node(struct engine *engine, struct search *search, struct found *found)
{
    const struct find find = {.id = found->id, .client = found->client, .ticket = found->ticket};
    switch (look_errand_send(engine, &find, &search->errand)) {
    case LOOK_NOBODY:
        break;
    case LOOK_LATER:
        found->result = FOUND_UNAVAILABLE;
        break;
    case LOOK_SENT:
        wheel_arm(&engine->wheel, &search->timer, engine->now_ms + ERRAND_PATIENCE_MS);
        break;
    }
}

void find_on_found(struct engine *engine, const struct found *told)
{
    struct search *search =
        engine->finding == NULL ? NULL : slab_get(&engine->finding->slab, told->ticket);
    const bool is_awaited = search != NULL && search->is_asking && search->errand == 0 &&
                            id_of(search) == told->id && search->client == told->client;
    if (!is_awaited)
        return;
    struct found found = *told;
    if (found.result == FOUND_UNKNOWN && !is_unsure(engine, found.result))
        ask_node(engine, search, &found);
    if (search->errand == 0)
        settle(engine, search, &found);
}

void find_on_reply(struct engine *engine, uint64_t ticket, const struct found *found)
{
    struct search *search =
        engine->finding == NULL ? NULL : slab_get(&engine->finding->slab, found->ticket);
    if (search == NULL || search->errand == 0 || search->errand != ticket)
        return;
    search->is_sure = found->result == FOUND_UNKNOWN;
    if (!search->is_sure)
        look_errand_forgive(engine, search->client);
    settle(engine, search, found);
}

/* A search leaves the table until the store has told again what it waits for. */
static void wake_some(struct engine *engine)
{
    struct finding *finding = engine->finding;
    for (uint32_t left = engine->options.step_batch; left > 0 && finding->name_count > 0; left--) {
        struct table_node *node =
            table_find(&finding->by_name, &finding->names[finding->name_first]);
        if (node == NULL) {
            finding->name_first = (finding->name_first + 1) % NAMES_MAX;
            finding->name_count--;
            continue;
        }
        struct search *search = CONTAINER_OF(node, struct search, waking);
        table_remove(&finding->by_name, node);
        search->is_woken = true;
        if (!list_is_empty(&search->waits))
            send(engine, search);
        engine->work++;
    }
}

void find_on_woken(struct engine *engine, const struct key *name)
{
    struct finding *finding = engine->finding;
    if (finding == NULL || finding->name_count == NAMES_MAX ||
        table_find(&finding->by_name, name) == NULL)
        return;
    finding->names[(finding->name_first + finding->name_count++) % NAMES_MAX] = *name;
    if (finding->name_count == 1)
        wake_some(engine);
}

bool find_has_work(const struct engine *engine)
{
    const struct finding *finding = engine->finding;
    return finding != NULL && (!list_is_empty(&finding->telling) || finding->name_count > 0);
}

void find_work(struct engine *engine)
{
    if (!find_has_work(engine))
        return;
    tell_some(engine);
    wake_some(engine);
}

void find_on_timer(struct engine *engine, struct wheel_timer *timer)
{
    struct search *search = CONTAINER_OF(timer, struct search, timer);
    if (search->errand != 0)
        settle(engine, search, &(struct found){.result = FOUND_UNAVAILABLE});
    else if (!list_is_empty(&search->waits))
        send(engine, search);
    else if (is_wanted(search))
        wheel_arm(&engine->wheel, &search->timer, engine->now_ms + FOLLOW_ASK_MS);
    else
        free_search(engine, search);
}

/* ---- the auditor --------------------------------------------------------------------------- */

void find_check(const struct engine *engine)
{
    const struct finding *finding = engine->finding;
    uint64_t bytes = 0;
    if (finding == NULL)
        return;
    slab_check(&finding->slab);
    table_check(&finding->by_id);
    table_check(&finding->by_name);
    for (slab_id id = 0; (id = slab_next(&finding->slab, id)) != 0;) {
        const struct search *search = slab_get(&finding->slab, id);
        bytes += search->bytes;
        ASSERT(search->timer.is_armed == (!search->is_asking || search->errand != 0));
        ASSERT(search->is_asking || search->errand == 0);
        ASSERT(is_wanted(search) == list_is_empty(&search->link));
        ASSERT(list_is_empty(&search->glances) || search->is_asking);
        ASSERT(list_is_empty(&search->told) == list_is_empty(&search->tell));
        ASSERT(list_is_empty(&search->waits) || !is_over(&search->answer) || search->is_asking);
    }
    ASSERT(bytes == finding->bytes);
}
