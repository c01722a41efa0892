#include "store/redis/redis_adopt.h"

#include "store/redis/redis_again.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_chest.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"

/* A connection that nobody waits for wake-ups on, and that has no lock. */
static enum store_result connect_alone(struct redis_store *store)
{
    if (store->link != NULL)
        return STORE_DONE;
    enum store_result result = session_connect(store, 0);
    if (result == STORE_DONE)
        result = session_read_moved(store);
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}

/* ---- taking ------------------------------------------------------------------------------ */

static enum store_result take(struct redis_store *store, const struct store_member *dead,
                              bool is_again, bool *is_ours)
{
    char texts[5][32];
    const struct slice words[] = {
        call_number(texts[0], store->base.node),
        call_number(texts[1], (int64_t)store->base.incarnation),
        call_number(texts[2], dead->node),
        call_number(texts[3], (int64_t)dead->incarnation),
        call_number(texts[4], (int64_t)dead->beat),
        is_again ? WORD_OF("1") : WORD_OF("0"),
    };
    struct redis_reply *reply = NULL;
    enum store_result result = script_run(store, SCRIPT_ADOPT, words, 6, &reply);
    if (result == STORE_DONE)
        result = again_judge(store, reply);
    *is_ours = result == STORE_DONE && redis_reply_is(redis_reply_item(reply, 0), "ok");
    redis_reply_free(reply);
    return result;
}

static enum store_result adopt(struct redis_store *store, const struct store_member *dead,
                               bool is_again, bool *is_ours, const struct store_adopted *to)
{
    *is_ours = false;
    if (!is_again)
        chest_forget(store);
    enum store_result result = connect_alone(store);
    if (result == STORE_DONE)
        result = take(store, dead, is_again, is_ours);
    if (result != STORE_DONE || !*is_ours)
        return result;
    result = chest_empty(store, to);
    /* The store may have lost us, together with the chest: whoever looks back finds out. */
    if (result == STORE_REFUSED) {
        call_disconnect(store);
        result = STORE_RETRY;
    }
    return result;
}

/* Gateways die now and then, and each connection takes the server's memory meanwhile. */
enum store_result redis_adopt(struct store_backend *backend, const struct store_member *dead,
                              bool is_again, bool *is_ours, const struct store_adopted *to)
{
    struct redis_store *const store = redis_store_of(backend);
    const enum store_result result = adopt(store, dead, is_again, is_ours, to);
    if (result == STORE_DONE)
        call_disconnect(store);
    return result;
}
