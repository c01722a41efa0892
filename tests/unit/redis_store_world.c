#include "redis_store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum store_opening redis_case_opening;
char redis_case_mistake[1024];

int redis_case_set_up(void **state)
{
    union {
        const struct store_kit *kit;
        void *state;
    } first = {.kit = &store_kit_redis};
    *state = first.state;
    return world_set_up(state);
}

int redis_case_skip(void)
{
    (void)printf("1..0 # SKIP %s\n", store_kit_redis.missing());
    return 0;
}

struct store_backend *redis_case_open(const struct store_place *place)
{
    const struct store_driver *const driver = store_kit_redis.driver;
    struct store_backend *backend = NULL;
    struct buf mistake;
    buf_init(&mistake, sizeof(redis_case_mistake));
    redis_case_opening = driver->lock(place, strchr(place->url, ':') + 1, &backend, &mistake);
    if (redis_case_opening == STORE_OPENED) {
        backend->driver = driver;
        redis_case_opening = driver->open(backend, &mistake);
        if (redis_case_opening != STORE_OPENED) {
            driver->close(backend);
            backend = NULL;
        }
    }
    const struct slice text = buf_slice(&mistake);
    (void)snprintf(redis_case_mistake, sizeof(redis_case_mistake), "%.*s", (int)text.len,
                   text.data);
    buf_close(&mistake);
    assert_true((backend == NULL) == (redis_case_mistake[0] != '\0'));
    return backend;
}

struct store_backend *redis_case_open_url(const char *url)
{
    const struct store_place place = {.url = url, .prefix = CASE_PREFIX};
    return redis_case_open(&place);
}

enum store_result redis_case_write(struct store_backend *backend, struct record *take_record,
                                   const char *client)
{
    const size_t len = strlen(client);
    struct store_entry *const entry = calloc(1, sizeof(*entry) + len + 1);
    assert_non_null(entry);
    entry->record = *take_record;
    entry->client_len = len;
    memcpy(entry->client, client, len);
    const struct store_batch batch = {.first = entry, .count = 1};
    const enum store_result result = backend->driver->write(backend, &batch);
    record_close(&entry->record);
    free(entry);
    return result;
}

enum store_result redis_case_put(struct store_world *world, struct store_backend *backend,
                                 uint64_t id)
{
    struct record record = world_record(world, RECORD_REQUEST, id);
    return redis_case_write(backend, &record, "alpha");
}
