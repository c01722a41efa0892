#include "store_conformance.h"
#include "store_expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_MS INT64_C(3600000)
#define ENTRIES_MAX (4 * EXPECTED_MAX)

/* ---- the driver without the port --------------------------------------------------------- */

static struct store_backend *open_backend(struct store_world *world)
{
    const struct store_driver *const driver = world->kit->driver;
    struct store_backend *backend = NULL;
    char url[2 * PATH_MAX];
    struct buf mistake;
    buf_init(&mistake, 1024);
    world->kit->url(world, url, sizeof(url));
    const struct store_place place = {.url = url, .prefix = "solvegate_test"};
    const char *const address = strchr(url, ':') + 1;
    assert_int_equal(driver->lock(&place, address, &backend, &mistake), STORE_OPENED);
    backend->driver = driver;
    assert_int_equal(driver->open(backend, &mistake), STORE_OPENED);
    buf_close(&mistake);
    return backend;
}

struct entries {
    struct store_entry *all[ENTRIES_MAX]; /* owned */
    uint32_t count;
};

/* The names of the world's clients. */
static void add_entry(struct entries *entries, struct record *take_record)
{
    static const char *const clients[WORLD_CLIENTS] = {"alpha", "beta"};
    const client_id *const client = row_client(take_record);
    const char *const name = client == NULL ? "" : clients[*client];
    const size_t len = strlen(name);
    struct store_entry *const entry = calloc(1, sizeof(*entry) + len + 1);
    assert_non_null(entry);
    entry->record = *take_record;
    entry->client_len = len;
    memcpy(entry->client, name, len);
    if (entries->count > 0)
        entries->all[entries->count - 1]->next = entry;
    assert_true(entries->count < ENTRIES_MAX);
    entries->all[entries->count++] = entry;
}

static void write_entries(struct store_backend *backend, const struct entries *entries)
{
    const struct store_batch batch = {.first = entries->all[0], .count = entries->count};
    assert_int_equal(backend->driver->write(backend, &batch), STORE_DONE);
}

static void free_entries(struct entries *entries)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        record_close(&entries->all[i]->record);
        free(entries->all[i]);
    }
    entries->count = 0;
}

/* Each name is put, dropped and put again, every other one dropped at the end: the last word on a name counts, also
 * within one batch. */
static void make_entries(struct store_world *world, struct entries *entries,
                         struct expectation *wanted)
{
    for (unsigned i = 0; i < RECORD_KIND_COUNT * WORLD_CLIENTS; i++) {
        const enum record_kind kind = (enum record_kind)(i / WORLD_CLIENTS);
        struct record first = world_record(world, kind, i % WORLD_CLIENTS);
        struct record second = world_record(world, kind, i % WORLD_CLIENTS);
        struct record drop = expect_drop_of(&first);
        struct record last = world_share(&second);
        add_entry(entries, &first);
        add_entry(entries, &drop);
        add_entry(entries, &second);
        if (i % 2 == 0) {
            wanted->records[wanted->count++] = last;
        } else {
            add_entry(entries, &drop);
            record_close(&last);
        }
    }
}

static void the_last_entry_of_a_name_wins_and_a_batch_sent_twice_changes_nothing(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct entries entries;
    struct store_backend *const backend = open_backend(world);
    make_entries(world, &entries, &wanted);
    write_entries(backend, &entries);
    write_entries(backend, &entries);
    backend->driver->close(backend);
    free_entries(&entries);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

static void a_shift_that_is_repeated_moves_times_once(void **state)
{
    struct store_world *const world = *state;
    static struct entries entries;
    static struct expectation wanted;
    struct record flight = world_record(world, RECORD_FLIGHT, 1);
    wanted.records[wanted.count++] = world_share(&flight);
    wanted.records[0].flight.created_wall_ms += HOUR_MS;
    struct store_backend *const backend = open_backend(world);
    add_entry(&entries, &flight);
    write_entries(backend, &entries);
    world->clocks.wall_ms += HOUR_MS;
    const struct store_shift shift = {.by_ms = HOUR_MS, .now = world->clocks};
    assert_int_equal(backend->driver->shift(backend, &shift), STORE_DONE);
    assert_int_equal(backend->driver->shift(backend, &shift), STORE_DONE);
    struct store_mark mark;
    assert_int_equal(backend->driver->read_mark(backend, &mark), STORE_DONE);
    assert_true(mark.is_set);
    assert_int_equal(mark.wall_ms, world->clocks.wall_ms);
    assert_int_equal(mark.even_ms, world->clocks.even_ms);
    assert_string_equal(mark.boot, world->clocks.boot);
    backend->driver->close(backend);
    free_entries(&entries);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

static void a_mark_is_unset_at_first_and_when_it_makes_no_sense(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_backend(world);
    struct store_mark mark;
    assert_int_equal(backend->driver->read_mark(backend, &mark), STORE_DONE);
    assert_false(mark.is_set);
    struct store_shift shift = {.by_ms = 0, .now = world->clocks};
    shift.now.even_ms = -1;
    assert_int_equal(backend->driver->shift(backend, &shift), STORE_DONE);
    assert_int_equal(backend->driver->read_mark(backend, &mark), STORE_DONE);
    assert_false(mark.is_set);
    shift.now.even_ms = 1;
    assert_int_equal(backend->driver->shift(backend, &shift), STORE_DONE);
    assert_int_equal(backend->driver->read_mark(backend, &mark), STORE_DONE);
    assert_true(mark.is_set);
    backend->driver->close(backend);
}

static void tidying_deletes_expired_rows_and_no_others(void **state)
{
    struct store_world *const world = *state;
    static struct entries entries;
    struct store_backend *const backend = open_backend(world);
    for (uint64_t id = 1; id <= 300; id++) {
        struct record record = world_record(world, RECORD_REQUEST, id);
        record.request.state = id % 3 == 0 ? REQUEST_SOLVING : REQUEST_SOLVED;
        record.request.expires_wall_ms = id % 3 == 1 ? WORLD_NOW : WORLD_NOW + HOUR_MS;
        add_entry(&entries, &record);
    }
    write_entries(backend, &entries);
    free_entries(&entries);
    bool has_more = true;
    for (unsigned i = 0; i < 10 && has_more; i++)
        assert_int_equal(backend->driver->tidy(backend, WORLD_NOW, 30, &has_more), STORE_DONE);
    assert_false(has_more);
    assert_int_equal(world->kit->count_rows(world, RECORD_REQUEST), 200);
    backend->driver->close(backend);
}

/* ---- secrets ----------------------------------------------------------------------------- */

static void a_secret_is_made_once_and_stays(void **state)
{
    struct store_world *const world = *state;
    uint8_t first[32], other[32], again[32];
    static const uint8_t zeros[32];
    world_open(world);
    assert_int_equal(store_secret(world->store, "nonce", first, sizeof(first)), 0);
    assert_int_equal(store_secret(world->store, "key", other, sizeof(other)), 0);
    world_close(world);
    world_open(world);
    assert_int_equal(store_secret(world->store, "nonce", again, sizeof(again)), 0);
    assert_memory_equal(first, again, sizeof(first));
    assert_memory_not_equal(first, other, sizeof(first));
    assert_memory_not_equal(first, zeros, sizeof(first));
    assert_int_equal(store_secret(world->store, "nonce", again, 16), ERR_INVALID);
    world_close(world);
}

static void a_rotated_secret_leaves_the_one_before(void **state)
{
    struct store_world *const world = *state;
    const int64_t week = INT64_C(7) * 86400000;
    uint8_t first[32], before[32], second[32], third[32];
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", week, first, before, 32), 0);
    assert_memory_equal(first, before, 32);
    world_close(world);
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", week, second, before, 32), 0);
    assert_memory_equal(first, second, 32);
    /* Old enough for an age of nothing at all. */
    assert_int_equal(store_rotating_secret(world->store, "n", 0, third, before, 32), 0);
    assert_memory_not_equal(third, first, 32);
    assert_memory_equal(before, first, 32);
    world_close(world);
}

static void a_secret_is_made_anew_while_the_writer_runs(void **state)
{
    struct store_world *const world = *state;
    const int64_t week = INT64_C(7) * 86400000;
    uint8_t first[32], before[32], last[32], last_but_one[32];
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", 300, first, before, 32), 0);
    world_start(world);
    world_until_secret(world, 1);
    assert_memory_equal(world->old_secret, first, 32);
    assert_memory_not_equal(world->secret, first, 32);
    world_until_secret(world, 2);
    world_close(world);
    /* Whatever was told is on disk. */
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", week, last, last_but_one, 32), 0);
    assert_memory_equal(last, world->secret, 32);
    assert_memory_equal(last_but_one, world->old_secret, 32);
    world_close(world);
}

static void a_secret_that_cannot_be_replaced_for_lack_of_room_stays_in_use(void **state)
{
    struct store_world *const world = *state;
    uint8_t first[32], second[32], before[32];
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", 0, first, before, 32), 0);
    world->kit->set_full(true);
    assert_int_equal(store_rotating_secret(world->store, "n", 0, second, before, 32), 0);
    assert_memory_equal(first, second, 32);
    assert_int_equal(store_secret(world->store, "other", second, 32), ERR_FULL);
    world->kit->set_full(false);
    world_close(world);
}

static void of_two_that_replace_a_secret_the_first_one_wins(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_backend(world);
    const struct store_driver *const driver = backend->driver;
    const struct store_secret a = {.bytes = "aaaa", .count = 4, .made_wall_ms = 1};
    const struct store_secret b = {.bytes = "bbbb", .count = 4, .made_wall_ms = 2};
    const struct store_secret c = {.bytes = "cccc", .count = 4, .made_wall_ms = 3};
    struct store_secret found;
    assert_int_equal(driver->find_secret(backend, "n", &found), STORE_DONE);
    assert_int_equal(found.count, 0);
    assert_int_equal(driver->replace_secret(backend, "n", &a, "n.old", NULL), STORE_DONE);
    assert_int_equal(driver->replace_secret(backend, "n", &b, "n.old", NULL), STORE_DONE);
    assert_int_equal(driver->find_secret(backend, "n", &found), STORE_DONE);
    assert_memory_equal(found.bytes, "aaaa", 4);
    assert_int_equal(driver->replace_secret(backend, "n", &b, "n.old", &a), STORE_DONE);
    assert_int_equal(driver->replace_secret(backend, "n", &c, "n.old", &a), STORE_DONE);
    assert_int_equal(driver->find_secret(backend, "n", &found), STORE_DONE);
    assert_memory_equal(found.bytes, "bbbb", 4);
    assert_int_equal(found.made_wall_ms, 2);
    assert_int_equal(driver->find_secret(backend, "n.old", &found), STORE_DONE);
    assert_memory_equal(found.bytes, "aaaa", 4);
    driver->close(backend);
}

/* ---- one gateway at a time --------------------------------------------------------------- */

static void a_second_instance_is_told_that_it_is_locked(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    struct store *const first = world->store;
    struct buf mistake;
    buf_init(&mistake, 1024);
    assert_int_equal(world_try(world, &mistake), STORE_LOCKED);
    assert_null(world->store);
    assert_true(mistake.len > 0);
    buf_close(&mistake);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        buf_init(&mistake, 1024);
        _exit(world_try(world, &mistake) == STORE_LOCKED ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    world->store = first;
    world_close(world);
    world_open(world);
    world_close(world);
}

static void every_scheme_of_the_driver_finds_it(void **state)
{
    const struct store_driver *const driver = ((struct store_world *)*state)->kit->driver;
    const char *address = NULL;
    char url[64];
    for (const char *const *scheme = driver->schemes; *scheme != NULL; scheme++) {
        (void)snprintf(url, sizeof(url), "%s:/a/place", *scheme);
        assert_ptr_equal(store_driver_find(url, &address), driver);
        assert_string_equal(address, "/a/place");
    }
    assert_null(store_driver_find("nothing:/a/place", &address));
    assert_null(store_driver_find("/a/place", &address));
}

static void an_unknown_scheme_is_refused_without_telling_the_rest_of_the_url(void **state)
{
    (void)state;
    struct store *store;
    struct buf mistake;
    buf_init(&mistake, 1024);
    const struct store_place place = {.url = "nothing://user:password@host"};
    assert_int_equal(store_lock(&place, &store, &mistake), STORE_UNUSABLE);
    assert_null(store);
    buf_add_char(&mistake, '\0');
    assert_non_null(strstr(mistake.data, "\"nothing\""));
    assert_null(strstr(mistake.data, "password"));
    buf_close(&mistake);
}

/* ---- stores that come back without rows, and journals that are not whole ------------------- */

#define WEEK_MS (INT64_C(7) * 86400000)

struct secrets {
    uint8_t identity[32], nonce[32], old_nonce[32];
};

static void read_secrets(struct store_world *world, struct secrets *secrets)
{
    assert_int_equal(
        store_secret(world->store, "identity", secrets->identity, sizeof(secrets->identity)), 0);
    assert_int_equal(store_rotating_secret(world->store, "nonce", WEEK_MS, secrets->nonce,
                                           secrets->old_nonce, sizeof(secrets->nonce)),
                     0);
}

/* As a gateway does, with ten rows. */
static void begin_gateway(struct store_world *world, struct secrets *secrets)
{
    unsigned rows = 0;
    world_open(world);
    read_secrets(world, secrets);
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &rows), 0);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, world->seq);
}

static void until_lost(struct store_world *world)
{
    for (unsigned i = 0; i < 3000 && world->loss_calls == 0; i++)
        world_turn(world, 10);
    assert_int_equal(world->loss_calls, 1);
    (void)printf("# %s\n", world->loss);
    assert_non_null(strstr(world->loss, "came back without rows"));
}

/* Without them the rows could be restored, but nobody would find what was paid for. */
static void assert_same_secrets(struct store_world *world, const struct secrets *before)
{
    struct secrets after;
    world_open(world);
    read_secrets(world, &after);
    assert_memory_equal(before, &after, sizeof(after));
    world_close(world);
}

static void a_store_that_is_emptied_gets_its_secrets_again_and_says_so(void **state)
{
    struct store_world *const world = *state;
    struct secrets secrets;
    begin_gateway(world, &secrets);
    world->kit->empty();
    world_append_requests(world, 5);
    world_until_durable(world, world->seq);
    until_lost(world);
    world_close(world);
    assert_int_equal(world->kit->count_rows(world, RECORD_REQUEST), 5);
    assert_same_secrets(world, &secrets);
}

static void a_store_that_is_emptied_while_nothing_is_written_is_noticed(void **state)
{
    struct store_world *const world = *state;
    struct secrets secrets;
    begin_gateway(world, &secrets);
    world->kit->empty();
    until_lost(world);
    world_close(world);
    assert_same_secrets(world, &secrets);
}

/* Its secrets are there, but the latest rows are not. */
static void a_store_with_an_older_state_of_its_rows_is_noticed(void **state)
{
    struct store_world *const world = *state;
    struct secrets secrets;
    begin_gateway(world, &secrets);
    world->kit->set_back();
    world_append_requests(world, 5);
    world_until_durable(world, world->seq);
    until_lost(world);
    /* Once: from now on it has what this run wrote. */
    world_append_requests(world, 5);
    world_until_durable(world, world->seq);
    world_turn(world, 3 * world->beat_ms);
    assert_int_equal(world->loss_calls, 1);
    world_close(world);
    assert_same_secrets(world, &secrets);
}

/* What an interrupted copy leaves: rows, and no secrets yet. */
static void rows_without_the_identity_of_their_gateway_are_refused(void **state)
{
    struct store_world *const world = *state;
    uint8_t identity[32];
    struct buf why;
    world_open(world);
    world_start(world);
    world_append_requests(world, 3);
    world_until_durable(world, world->seq);
    world_close(world);
    world_open(world);
    assert_int_not_equal(store_secret(world->store, "identity", identity, sizeof(identity)), 0);
    buf_init(&why, 1024);
    store_explain(world->store, &why);
    buf_add_char(&why, '\0');
    (void)printf("# %s\n", why.data);
    assert_non_null(strstr(why.data, "store copy"));
    buf_close(&why);
    /* Not even a second time. */
    assert_int_not_equal(store_secret(world->store, "identity", identity, sizeof(identity)), 0);
    world_close(world);
}

const struct store_case store_whole_cases[] = {
    STORE_CASE(rows_without_the_identity_of_their_gateway_are_refused),
    {NULL, NULL},
};

const struct store_case store_lost_cases[] = {
    STORE_CASE(a_store_that_is_emptied_gets_its_secrets_again_and_says_so),
    STORE_CASE(a_store_that_is_emptied_while_nothing_is_written_is_noticed),
    STORE_CASE(a_store_with_an_older_state_of_its_rows_is_noticed),
    {NULL, NULL},
};

const struct store_case store_driver_cases[] = {
    STORE_CASE(the_last_entry_of_a_name_wins_and_a_batch_sent_twice_changes_nothing),
    STORE_CASE(a_shift_that_is_repeated_moves_times_once),
    STORE_CASE(a_mark_is_unset_at_first_and_when_it_makes_no_sense),
    STORE_CASE(tidying_deletes_expired_rows_and_no_others),
    STORE_CASE(a_secret_is_made_once_and_stays),
    STORE_CASE(a_rotated_secret_leaves_the_one_before),
    STORE_CASE(a_secret_is_made_anew_while_the_writer_runs),
    STORE_CASE(a_secret_that_cannot_be_replaced_for_lack_of_room_stays_in_use),
    STORE_CASE(of_two_that_replace_a_secret_the_first_one_wins),
    STORE_CASE(a_second_instance_is_told_that_it_is_locked),
    STORE_CASE(every_scheme_of_the_driver_finds_it),
    STORE_CASE(an_unknown_scheme_is_refused_without_telling_the_rest_of_the_url),
    {NULL, NULL},
};
