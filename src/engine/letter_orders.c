/* Orders about dead letters. Each is carried out over as many steps as it takes, since there may be
 * a hundred thousand letters. */
#include "engine/letter_orders.h"

#include "engine/errand.h"
#include "engine/journal.h"
#include "engine/letter_errands.h"
#include "engine/letter_replay.h"
#include "engine/letters.h"
#include "engine/orphan.h"
#include "engine/undeliverable.h"

#include <stdlib.h>

/* Looking at a letter costs a small fraction of dropping it, so a step may look at more. */
#define LOOKS_PER_STEP 8

/* ---- one letter -------------------------------------------------------------------------- */

static bool matches(const struct letter *letter, const struct letter_filter *filter)
{
    return (filter->number == 0 || letter->number == filter->number) &&
           (!filter->has_client || letter->client == filter->client) &&
           (filter->class == CLASS_COUNT || letter->class == filter->class) &&
           (filter->type == TYPE_COUNT || letter->type == filter->type) &&
           (filter->until_wall_ms == 0 || letter->created_wall_ms <= filter->until_wall_ms) &&
           (filter->code[0] == '\0' ||
            slice_equals(blob_slice(letter->error), slice_from(filter->code)));
}

/* An unplaced solution is only for the operator to look at. A paid answer that could not be handed
 * out is bought again only if the order names that very letter. A letter of a gone client needs a
 * new client first. */
static bool may_replay(const struct engine *engine, const struct letter *letter,
                       const struct letter_filter *filter)
{
    if (letter_is_replaying(letter) || letter->kind == LETTER_OF_SOLUTION || engine->is_draining)
        return false;
    if (letter->kind == LETTER_OF_ANSWER && filter->number != letter->number)
        return false;
    return letter->kind == LETTER_OF_NOTICE ||
           (letter->params->len > 0 && !client_is_gone(engine, letter->client));
}

static void move_into(struct engine *engine, struct letter *letter,
                      const struct letter_order *order)
{
    undeliverable_leave(engine, letter);
    orphan_leave(engine, letter);
    letter_move(engine, letter, order->into);
    letter->key = order->into_key;
    orphan_enter(engine, letter);
    undeliverable_enter(engine, letter);
    journal_letter(engine, letter);
}

static bool carry_out(struct engine *engine, struct letter *letter,
                      const struct letter_order *order)
{
    const bool was_waiting = letter_is_waiting(letter);
    switch (order->verb) {
    case LETTER_REPLAY:
        if (order->has_into && !letter_is_replaying(letter) && letter->kind != LETTER_OF_NOTICE)
            move_into(engine, letter, order);
        if (!may_replay(engine, letter, &order->filter))
            return false;
        /* A solution that is still fresh costs nothing: it is banked for the client's next request. */
        if (orphan_bank(engine, letter))
            return true;
        letter_line_up(engine, letter);
        return true;
    case LETTER_CANCEL:
        if (was_waiting)
            letter_leave_ride(engine, letter);
        return was_waiting;
    case LETTER_DROP:
        letter_drop(engine, letter);
        return true;
    case LETTER_LIST:
        return true;
    }
    UNREACHABLE();
}

struct letter *letter_find(const struct engine *engine, uint64_t number)
{
    struct numbers_node *node = numbers_find(&engine->letters_by_number, number);
    return node == NULL ? NULL : CONTAINER_OF(node, struct letter, node);
}

/* ---- jobs -------------------------------------------------------------------------------- */

static struct letter_job *job_at(struct engine *engine, uint32_t place)
{
    return &engine->letter_jobs[(engine->letter_job_first + place) % LETTER_JOBS];
}

/* Without a filter all letters match, so a list may stop after its page. */
static bool takes_all(const struct letter_filter *filter)
{
    return filter->number == 0 && !filter->has_client && filter->class == CLASS_COUNT &&
           filter->type == TYPE_COUNT && filter->code[0] == '\0';
}

/* A list runs from the newest letter to the oldest, every other order from the oldest. */
static struct list *after(const struct letter_job *job, const struct list *link)
{
    return job->order.verb == LETTER_LIST ? link->prev : link->next;
}

/* The job's first letter: the only one it names, the start of its page, or the end of the list. */
static struct list *first_of(struct engine *engine, const struct letter_job *job)
{
    const struct letter_order *order = &job->order;
    const bool is_page = order->verb == LETTER_LIST && takes_all(&order->filter);
    struct letter *only = letter_find(engine, order->filter.number);
    struct letter *before = letter_find(engine, order->cursor);
    if (order->filter.number != 0)
        return only == NULL ? &engine->letter_list : &only->link;
    if (is_page && before != NULL)
        return before->link.prev;
    return after(job, &engine->letter_list);
}

/* True when the remaining letters need not be looked at. */
static bool is_settled(const struct letter_job *job)
{
    return job->order.filter.number != 0 || (job->has_more && takes_all(&job->order.filter));
}

static void find(struct letter_job *job, uint64_t number)
{
    if (job->order.cursor != 0 && number >= job->order.cursor)
        return;
    if (job->found_count == job->order.limit)
        job->has_more = true;
    else
        job->found[job->found_count++] = number;
}

static void look_at(struct engine *engine, struct letter_job *job, struct letter *letter)
{
    const uint64_t number = letter->number;
    if (number > job->last || !matches(letter, &job->order.filter) ||
        !carry_out(engine, letter, &job->order))
        return;
    job->count++;
    if (job->order.verb == LETTER_LIST)
        find(job, number);
}

static void tell(struct engine *engine, const struct letter_job *job)
{
    const struct letter_order *order = &job->order;
    const bool is_all = order->verb == LETTER_LIST && takes_all(&order->filter);
    struct action *action = engine_push(engine, ACTION_LETTERS);
    action->letters = (struct letters_answer){
        .caller = order->caller,
        .verb = order->verb,
        .count = is_all ? engine->letters.used : job->count,
        .found_count = job->found_count,
        .found = job->found,
        .next = job->has_more ? job->found[job->found_count - 1] : 0,
    };
}

static void finish(struct engine *engine, struct letter_job *job)
{
    const struct letter_job ended = *job;
    engine->letter_job_first = (engine->letter_job_first + 1) % LETTER_JOBS;
    engine->letter_job_count--;
    if (ended.errand.from != 0)
        errand_reply(engine, &ended.errand, REFUSAL_NONE, ended.count);
    else if (ended.is_unheard)
        free(ended.found);
    else
        tell(engine, &ended);
}

/* Returns true when the job is finished. */
static bool work_on(struct engine *engine, struct letter_job *job, uint32_t *looks)
{
    uint32_t done = 0;
    if (job->next == NULL)
        job->next = first_of(engine, job);
    while (job->next != &engine->letter_list && *looks > 0 && done < engine->options.step_batch) {
        struct letter *letter = CONTAINER_OF(job->next, struct letter, link);
        const uint32_t count = job->count;
        job->next = after(job, job->next);
        --*looks;
        look_at(engine, job, letter);
        done += job->order.verb == LETTER_LIST ? 0 : job->count - count;
        if (is_settled(job))
            job->next = &engine->letter_list;
    }
    return job->next == &engine->letter_list;
}

void letter_jobs_work(struct engine *engine)
{
    const uint32_t most = engine->options.step_batch * LOOKS_PER_STEP;
    uint32_t looks = most;
    while (engine->letter_job_count > 0 && looks > 0 && work_on(engine, job_at(engine, 0), &looks))
        finish(engine, job_at(engine, 0));
    engine->work += most - looks;
    letters_start_replays(engine);
}

void letter_jobs_pass(struct engine *engine, const struct letter *letter)
{
    for (uint32_t i = 0; i < engine->letter_job_count; i++) {
        struct letter_job *job = job_at(engine, i);
        if (job->next == &letter->link)
            job->next = after(job, job->next);
    }
}

void letters_on_gone(struct engine *engine, caller_id caller)
{
    for (uint32_t i = 0; i < engine->letter_job_count; i++) {
        struct letter_job *job = job_at(engine, i);
        if (job->order.caller == caller)
            job->is_unheard = true;
    }
}

void letter_jobs_free(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->letter_job_count; i++)
        free(job_at(engine, i)->found);
    engine->letter_job_count = 0;
}

static void take(struct engine *engine, const struct letter_order *order,
                 const struct errand *errand)
{
    struct letter_job *job = job_at(engine, engine->letter_job_count++);
    *job = (struct letter_job){.order = *order, .errand = *errand, .last = engine->letter_serial};
    if (order->verb == LETTER_LIST) {
        ASSERT(order->limit > 0);
        job->found = calloc(order->limit, sizeof *job->found);
        ASSERT(job->found != NULL);
    }
    /* A short job finishes at once; ticks continue a long one. */
    if (engine->letter_job_count == 1)
        letter_jobs_work(engine);
}

void letters_on_order(struct engine *engine, const struct letter_order *order)
{
    static const struct errand none;
    if (letter_order_is_for_others(engine, order))
        letter_errand_send(engine, order);
    else if (engine->letter_job_count == LETTER_JOBS)
        letter_order_end(engine, order->caller, order->verb, REFUSAL_FULL_REQUESTS, 0);
    else
        take(engine, order, &none);
}

bool letter_job_take(struct engine *engine, const struct letter_order *order,
                     const struct errand *errand)
{
    const bool has_room = engine->letter_job_count < LETTER_JOBS;
    if (has_room)
        take(engine, order, errand);
    return has_room;
}

/* ---- looking ----------------------------------------------------------------------------- */

static void view_letter(const struct engine *engine, const struct letter *letter,
                        struct letter_view *view)
{
    *view = (struct letter_view){
        .number = letter->number,
        .client = letter->client,
        .type = letter->type,
        .class = letter->class,
        .code = blob_slice(letter->error),
        .key = letter->key,
        .created_wall_ms = letter->created_wall_ms,
        .expires_wall_ms = letter->created_wall_ms + (int64_t)engine->options.letter_keep_ms,
        .told = letter->told,
        .replays = letter->replays,
        .retries = letter->retries,
        .is_replaying = letter_is_replaying(letter),
        .params = letter->params,
        .kind = letter->kind,
        .request = letter->request,
        .pingback = blob_slice(letter->pingback),
        .text = blob_slice(letter->text),
        .task_id = slice_from(letter->task_id),
    };
    if (letter->history == NULL)
        return;
    view->notes = letter->history->notes;
    view->note_count = letter->history->count;
}

bool engine_find_letter(const struct engine *engine, uint64_t number, struct letter_view *view)
{
    const struct letter *letter = letter_find(engine, number);
    if (letter == NULL)
        return false;
    view_letter(engine, letter, view);
    return true;
}
