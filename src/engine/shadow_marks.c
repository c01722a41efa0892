#include "engine/shadow_marks.h"

#include "engine/request.h"

static struct mark *find(const struct shadow *shadow, const struct ask *ask)
{
    for (struct table_node *node = table_find(&shadow->marks_by_digest, &ask->idempotency);
         node != NULL; node = table_find_next(node)) {
        struct mark *mark = CONTAINER_OF(node, struct mark, node);
        if (mark->client == ask->client)
            return mark;
    }
    return NULL;
}

static void mark_free(struct shadow *shadow, struct mark *mark)
{
    table_remove(&shadow->marks_by_digest, &mark->node);
    list_unlink(&mark->link);
    slab_free(&shadow->marks, mark->id);
}

/* A record lives for a while after its last use and after its solution came, and as long as its
 * flight is under way. */
static bool is_over(const struct engine *engine, const struct mark *mark, const struct guess *guess)
{
    if (guess == NULL || guess->is_mistake)
        return true;
    return guess->is_solved && mark->until_ms <= engine->now_ms &&
           guess->arrived_ms + engine->options.idempotency_ttl_ms <= engine->now_ms;
}

/* As in idempotency.c: what was stale on arrival is still found for a while. */
static bool serves(const struct engine *engine, const struct guess *guess)
{
    const uint64_t until_ms = guess->expires_ms > guess->arrived_ms
                                  ? guess->expires_ms
                                  : guess->arrived_ms + SOLUTION_KEEP_MS;
    return !guess->is_solved || until_ms > engine->now_ms;
}

enum mark_found marks_find(struct engine *engine, const struct ask *ask, struct guess **guess)
{
    struct shadow *shadow = engine->shadow;
    struct mark *mark = ask->has_idempotency ? find(shadow, ask) : NULL;
    if (mark == NULL)
        return MARK_NONE;
    *guess = slab_get(&shadow->guesses, mark->guess);
    if (is_over(engine, mark, *guess)) {
        mark_free(shadow, mark);
        return MARK_NONE;
    }
    if (!key_equals(&mark->fingerprint, &ask->key))
        return MARK_MISMATCH;
    return serves(engine, *guess) ? MARK_SERVES : MARK_NONE;
}

static struct mark *mark_new(struct shadow *shadow, const struct ask *ask)
{
    slab_id id;
    if (shadow->marks.used == shadow->marks.capacity)
        mark_free(shadow, CONTAINER_OF(list_first(&shadow->mark_order), struct mark, link));
    struct mark *mark = slab_alloc(&shadow->marks, &id);
    ASSERT(mark != NULL);
    mark->id = id;
    mark->node.key = ask->idempotency;
    mark->client = ask->client;
    list_init(&mark->link);
    table_insert(&shadow->marks_by_digest, &mark->node);
    return mark;
}

void marks_bind(struct engine *engine, const struct ask *ask, struct guess *guess)
{
    struct shadow *shadow = engine->shadow;
    if (!ask->has_idempotency)
        return;
    struct mark *mark = find(shadow, ask);
    if (mark == NULL)
        mark = mark_new(shadow, ask);
    list_unlink(&mark->link);
    list_append(&shadow->mark_order, &mark->link);
    mark->fingerprint = ask->key;
    mark->guess = guess->id;
    mark->until_ms = engine->now_ms + engine->options.idempotency_ttl_ms;
    guess->is_marked = true;
}
