/* Cases with a store on a Redis server of their own: opening it in any way, and writing to it without the port. */
#ifndef SOLVEGATE_TESTS_REDIS_STORE_WORLD_H
#define SOLVEGATE_TESTS_REDIS_STORE_WORLD_H

#include "redis_world.h"
#include "store_world.h"

/* The server of the kit that has begun. */
struct redis_server *store_kit_redis_server(void);

#define REDIS_CASE(name) {#name, name, redis_case_set_up, world_tear_down, NULL}
int redis_case_set_up(void **state);
/* Says why and does nothing on a machine without a server. */
#define redis_case_run(tests)                              \
    (store_kit_redis.missing() != NULL ? redis_case_skip() \
                                       : cmocka_run_group_tests(tests, seed_announce, NULL))
int redis_case_skip(void);

#define CASE_PREFIX "solvegate_test"
/* Opens with the driver alone, so that every answer is seen. NULL: the mistake is in redis_case_mistake. */
struct store_backend *redis_case_open(const struct store_place *place);
struct store_backend *redis_case_open_url(const char *url);
extern enum store_opening redis_case_opening;
extern char redis_case_mistake[1024];
#define assert_mistake(words) assert_non_null(strstr(redis_case_mistake, words))

/* Writes one record, and takes it. */
enum store_result redis_case_write(struct store_backend *backend, struct record *take_record,
                                   const char *client);
/* A request that does not expire while it is open, by its number. */
enum store_result redis_case_put(struct store_world *world, struct store_backend *backend,
                                 uint64_t id);

#endif
