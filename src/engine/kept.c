#include "engine/kept.h"

#include "engine/idempotency.h"
#include "engine/request.h"

/* ---- counting ---------------------------------------------------------------------------- */

static bool is_kept(const struct solution *solution)
{
    const bool is_held = !list_is_empty(&solution->readers) || !list_is_empty(&solution->records);
    return is_held && !solution->is_cached && solution->pool == NULL;
}

/* A solution that nobody was given yet is set aside for a retry, and is as precious as an unread one. */
static struct list *queue_of(struct engine *engine, const struct solution *solution)
{
    struct client *client = &engine->clients[solution->client];
    const bool is_read = solution->unread == 0 && solution->handed > 0;
    return is_read ? &client->kept_read : &client->kept_unread;
}

static void count(struct engine *engine, const struct solution *solution)
{
    share_take(&engine->shares.finished_bytes, solution->client, solution->bytes);
    share_loosen(&engine->shares.finished_bytes, solution->client, solution->bytes);
}

static void discount(struct engine *engine, const struct solution *solution)
{
    share_fasten(&engine->shares.finished_bytes, solution->client, solution->bytes);
    share_give(&engine->shares.finished_bytes, solution->client, solution->bytes);
}

void kept_update(struct engine *engine, struct solution *solution)
{
    const bool was_kept = solution->kept_in != NULL;
    struct list *queue = is_kept(solution) ? queue_of(engine, solution) : NULL;
    if (solution->kept_in == queue)
        return;
    if (was_kept)
        list_unlink(&solution->kept);
    if (queue != NULL)
        list_append(queue, &solution->kept);
    if (!was_kept)
        count(engine, solution);
    else if (queue == NULL)
        discount(engine, solution);
    solution->kept_in = queue;
}

/* ---- holders ----------------------------------------------------------------------------- */

void kept_enter_request(struct engine *engine, struct request *request)
{
    struct solution *solution = request->solution;
    if (solution == NULL)
        return;
    list_append(&solution->readers, &request->reader);
    solution->unread++;
    kept_update(engine, solution);
}

void kept_mark_read(struct engine *engine, struct request *request)
{
    struct solution *solution = request->solution;
    if (solution == NULL)
        return;
    ASSERT(solution->unread > 0);
    solution->unread--;
    kept_update(engine, solution);
}

void kept_leave_request(struct engine *engine, struct request *request)
{
    struct solution *solution = request->solution;
    if (solution == NULL)
        return;
    list_unlink(&request->reader);
    solution->unread -= !request->is_read;
    kept_update(engine, solution);
}

void kept_enter_record(struct engine *engine, struct idempotency *record)
{
    list_append(&record->solution->records, &record->holder);
    kept_update(engine, record->solution);
}

void kept_leave_record(struct engine *engine, struct idempotency *record)
{
    list_unlink(&record->holder);
    kept_update(engine, record->solution);
}

/* ---- giving way -------------------------------------------------------------------------- */

static struct solution *oldest_of_greediest(struct engine *engine)
{
    const uint32_t greediest = share_greediest(&engine->shares.finished_bytes);
    ASSERT(greediest != NO_CLIENT);
    struct client *client = &engine->clients[greediest];
    struct list *oldest = list_first(&client->kept_read);
    if (oldest == NULL)
        oldest = list_first(&client->kept_unread);
    ASSERT(oldest != NULL);
    return CONTAINER_OF(oldest, struct solution, kept);
}

/* Frees the solution together with its last holder. */
static void forget_holder(struct engine *engine, struct solution *solution)
{
    struct list *reader = list_first(&solution->readers);
    struct list *record = list_first(&solution->records);
    if (reader != NULL)
        request_free(engine, CONTAINER_OF(reader, struct request, reader));
    else
        idempotency_forget(engine, CONTAINER_OF(record, struct idempotency, holder));
}

void kept_trim(struct engine *engine)
{
    for (uint32_t left = engine->options.step_batch; left > 0 && kept_is_over(engine); left--)
        forget_holder(engine, oldest_of_greediest(engine));
}
