#include "store/redis/redis_driver.h"

#include "store/redis/redis_adopt.h"
#include "store/redis/redis_budget.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_cluster.h"
#include "store/redis/redis_find.h"
#include "store/redis/redis_inspect.h"
#include "store/redis/redis_lease.h"
#include "store/redis/redis_letters.h"
#include "store/redis/redis_load.h"
#include "store/redis/redis_meta.h"
#include "store/redis/redis_pulse.h"
#include "store/redis/redis_session.h"
#include "store/redis/redis_store.h"
#include "store/redis/redis_tidy.h"
#include "store/redis/redis_write.h"

#include <stdio.h>

/* A server reads about a million rows in this time. */
#define LOADING_WAIT_MS 60000
#define RELEASE_WAIT_MS 1000
/* The server does nothing else while a script runs, and needs about 10 us for each row that it writes and for a claim:
 * 5 ms. */
#define SCRIPT_ROWS 512

static bool redis_judge(const struct store_place *place, const char *address, struct buf *mistake)
{
    (void)address;
    struct redis_store *const store = redis_store_new(place, mistake);
    if (store != NULL)
        redis_store_free(store);
    return store != NULL;
}

static enum store_opening redis_lock(const struct store_place *place, const char *address,
                                     struct store_backend **backend, struct buf *mistake)
{
    (void)address;
    struct redis_store *const store = redis_store_new(place, mistake);
    if (store == NULL)
        return STORE_UNUSABLE;
    enum store_opening opening = STORE_UNUSABLE;
    if (session_connect(store, LOADING_WAIT_MS) == STORE_DONE)
        opening = lease_wait(store, mistake);
    else
        buf_add(mistake, slice_from(store->base.why));
    if (opening == STORE_OPENED)
        *backend = &store->base;
    else
        redis_store_free(store);
    return opening;
}

static enum store_opening redis_open(struct store_backend *backend, struct buf *mistake)
{
    struct redis_store *const store = redis_store_of(backend);
    bool is_new;
    enum store_result result = session_ensure(store);
    if (result == STORE_DONE)
        result = session_claim(store, &is_new);
    if (result == STORE_DONE)
        result = session_read_moved(store);
    if (result == STORE_DONE)
        result = cluster_join(store);
    if (result == STORE_DONE && store->node[0] == '\0')
        result = session_begin_progress(store);
    backend->batch_most = backend->node == 0 ? 0 : SCRIPT_ROWS;
    store->is_open = result == STORE_DONE;
    if (!store->is_open)
        buf_add(mistake, slice_from(backend->why));
    return store->is_open ? STORE_OPENED : STORE_UNUSABLE;
}

/* A lock that is left behind ends by itself, so a silent server is not waited for. */
static void redis_hang_up(struct store_backend *backend)
{
    struct redis_store *const store = redis_store_of(backend);
    if (store->patience_ms > RELEASE_WAIT_MS)
        store->patience_ms = RELEASE_WAIT_MS;
    lease_release(store);
    call_disconnect(store);
    if (store->ear != NULL)
        call_disconnect(store->ear);
}

static void redis_close(struct store_backend *backend)
{
    redis_hang_up(backend);
    redis_store_free(redis_store_of(backend));
}

static const struct store_sharing sharing = {
    .load_claims = cluster_load_claims,
    .read_time = cluster_read_time,
    .leave = cluster_leave,
    .make_pulse = pulse_make,
    .pulse_beat = pulse_beat,
    .pulse_wait = pulse_wait,
    .pulse_inbox = pulse_inbox,
    .adopt = redis_adopt,
    .find = redis_find,
    .letter_numbers = redis_letter_numbers,
    .letters = redis_letters,
    .books = redis_load_books,
    .sum_drawn = redis_sum_drawn,
};

const struct store_driver redis_driver = {
    .name = "Redis",
    .schemes = redis_url_schemes,
    .judge = redis_judge,
    .lock = redis_lock,
    .open = redis_open,
    .find_secret = redis_find_secret,
    .replace_secret = redis_replace_secret,
    .read_mark = redis_read_mark,
    .shift = redis_shift,
    .load = redis_load,
    .write = redis_write,
    .beat = redis_beat,
    .look = session_look,
    .tidy = redis_tidy,
    .hang_up = redis_hang_up,
    .close = redis_close,
    .sharing = &sharing,
    .print_schema = redis_print_rights,
    .inspect = redis_inspect,
};
