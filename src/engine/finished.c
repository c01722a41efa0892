#include "engine/finished.h"

#include "engine/kept.h"
#include "engine/request.h"

static bool is_full(const struct engine *engine)
{
    return engine->requests.used == engine->requests.capacity;
}

void finished_enter(struct engine *engine, struct request *request)
{
    ASSERT(!request->is_finished && request->flight == NULL);
    request->is_finished = true;
    list_append(&engine->clients[request->client].unread, &request->link);
    share_loosen(&engine->shares.requests, request->client, 1);
    kept_enter_request(engine, request);
}

void finished_mark_read(struct engine *engine, struct request *request)
{
    ASSERT(request->is_finished && !request->is_read);
    request->is_read = true;
    list_unlink(&request->link);
    list_append(&engine->clients[request->client].read, &request->link);
    share_take(&engine->shares.read, request->client, 1);
    share_loosen(&engine->shares.read, request->client, 1);
    kept_mark_read(engine, request);
}

void finished_leave(struct engine *engine, struct request *request)
{
    if (!request->is_finished)
        return;
    list_unlink(&request->link);
    kept_leave_request(engine, request);
    share_fasten(&engine->shares.requests, request->client, 1);
    if (!request->is_read)
        return;
    share_fasten(&engine->shares.read, request->client, 1);
    share_give(&engine->shares.read, request->client, 1);
}

/* Of a client's finished requests, those already read are forgotten first. */
static void forget_oldest(struct engine *engine, uint32_t client)
{
    struct client *greedy = &engine->clients[client];
    struct list *oldest = list_first(&greedy->read);
    if (oldest == NULL)
        oldest = list_first(&greedy->unread);
    ASSERT(oldest != NULL);
    request_free(engine, CONTAINER_OF(oldest, struct request, link));
}

bool finished_gives_room(const struct engine *engine, client_id client)
{
    return share_admits(&engine->shares.requests, engine->client_count, client, 1) &&
           (!is_full(engine) || share_yields(&engine->shares.requests, client) != NO_CLIENT);
}

void finished_make_room(struct engine *engine, client_id client)
{
    if (is_full(engine))
        forget_oldest(engine, share_yields(&engine->shares.requests, client));
}

void finished_trim(struct engine *engine)
{
    while (engine->shares.read.total > engine->options.max_finished)
        forget_oldest(engine, share_greediest(&engine->shares.read));
}
