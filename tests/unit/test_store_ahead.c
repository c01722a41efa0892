/* What a gateway needs to start over is read before its loop gets the store. */
#include "seed.h"
#include "store/store_ahead.h"
#include "store/store_claims.h"
#include "store/store_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLAIMS 600
#define DAY 7
#define SECRET_BYTES 32

/* ---- a driver that counts what it is asked ------------------------------------------------ */

static unsigned reads;
static enum store_result load_result;

static enum store_opening fake_lock(const struct store_place *place, const char *address,
                                    struct store_backend **backend, struct buf *mistake)
{
    (void)place;
    (void)address;
    (void)mistake;
    *backend = calloc(1, sizeof(**backend));
    assert_non_null(*backend);
    (*backend)->node = 1;
    return STORE_OPENED;
}

static enum store_opening fake_open(struct store_backend *backend, struct buf *mistake)
{
    (void)backend;
    (void)mistake;
    return STORE_OPENED;
}

static enum store_result fake_load(struct store_backend *backend, int64_t wall_ms,
                                   store_on_values *on_values, void *context)
{
    const struct record record = {.kind = RECORD_DAY, .day.day = DAY};
    struct row_value values[ROW_COLUMNS_MAX];
    struct buf scratch;
    (void)backend;
    (void)wall_ms;
    reads++;
    buf_init(&scratch, 65536);
    (void)row_to_values(&record, SLICE_NONE, &scratch, values);
    on_values(context, RECORD_DAY, values);
    buf_close(&scratch);
    return load_result;
}

static enum store_result fake_load_claims(struct store_backend *backend,
                                          void (*on_claim)(void *context, const struct key *name,
                                                           uint64_t flight),
                                          void *context)
{
    const struct key name = {{5}};
    (void)backend;
    reads++;
    for (uint64_t flight = 1; flight <= CLAIMS; flight++)
        on_claim(context, &name, flight);
    return STORE_DONE;
}

static enum store_result fake_find_secret(struct store_backend *backend, const char *name,
                                          struct store_secret *secret)
{
    (void)backend;
    reads++;
    *secret = (struct store_secret){.count = SECRET_BYTES, .made_wall_ms = clocks_read().wall_ms};
    memset(secret->bytes, (int)strlen(name), SECRET_BYTES);
    return STORE_DONE;
}

static void fake_close(struct store_backend *backend)
{
    free(backend);
}

/* The pulse begins when the store is open; this one is never heard. */
static struct store_backend *fake_make_pulse(const struct store_backend *backend)
{
    struct store_backend *const pulse = calloc(1, sizeof(*pulse));
    assert_non_null(pulse);
    pulse->driver = backend->driver;
    return pulse;
}

static enum store_result fake_beat(struct store_backend *pulse, const struct demand *demand,
                                   struct store_members *members)
{
    (void)pulse;
    (void)demand;
    (void)members;
    return STORE_RETRY;
}

static const struct store_sharing sharing = {
    .load_claims = fake_load_claims, .make_pulse = fake_make_pulse, .pulse_beat = fake_beat};
static const struct store_driver fake = {.name = "fake",
                                         .lock = fake_lock,
                                         .open = fake_open,
                                         .find_secret = fake_find_secret,
                                         .load = fake_load,
                                         .close = fake_close,
                                         .sharing = &sharing};

static struct store *open_store(void)
{
    const struct store_place place = {.url = "fake:", .node = "me"};
    const struct store_names names = {.context = NULL};
    struct store *store;
    struct buf mistake;
    buf_init(&mistake, 256);
    assert_int_equal(store_lock_with(&fake, &place, &store, &mistake), STORE_OPENED);
    assert_int_equal(store_open(store, &names, &mistake), STORE_OPENED);
    buf_close(&mistake);
    load_result = STORE_DONE;
    reads = 0;
    return store;
}

/* ---- what the loop gets -------------------------------------------------------------------- */

struct secrets {
    uint8_t identity[SECRET_BYTES], nonce[SECRET_BYTES], old_nonce[SECRET_BYTES];
};

static void read_secrets(struct store *store, struct secrets *secrets)
{
    assert_int_equal(store_secret(store, "identity", secrets->identity, SECRET_BYTES), 0);
    assert_int_equal(store_rotating_secret(store, "nonce", INT64_MAX, secrets->nonce,
                                           secrets->old_nonce, SECRET_BYTES),
                     0);
}

static void see_day(void *context, const struct record *record)
{
    assert_int_equal(record->kind, RECORD_DAY);
    assert_int_equal(record->day.day, DAY);
    ++*(unsigned *)context;
}

static void see_claim(void *context, const struct key *name, uint64_t flight)
{
    assert_int_equal(name->bytes[0], 5);
    assert_int_equal(flight, ++*(uint64_t *)context);
}

static void what_was_read_ahead_is_given_without_asking_the_store(void **state)
{
    (void)state;
    const struct clocks now = clocks_read();
    struct secrets before, after;
    unsigned days = 0;
    uint64_t claims = 0;
    struct store *const store = open_store();
    assert_int_equal(store_read_ahead(store, &now), 0);
    read_secrets(store, &before);
    assert_true(reads >= 5);
    reads = 0;
    read_secrets(store, &after);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_memory_not_equal(after.nonce, after.old_nonce, SECRET_BYTES);
    assert_int_equal(store_load(store, &now, see_day, &days), 0);
    assert_int_equal(store_load_claims(store, see_claim, &claims), 0);
    assert_int_equal(days, 1);
    assert_int_equal(claims, CLAIMS);
    assert_int_equal(reads, 0);
    store_free(store);
}

static void a_store_that_goes_away_meanwhile_is_no_good(void **state)
{
    (void)state;
    const struct clocks now = clocks_read();
    struct store *const store = open_store();
    load_result = STORE_RETRY;
    assert_int_equal(store_read_ahead(store, &now), ERR_IO);
    store_free(store);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_ahead_is_given_without_asking_the_store),
        cmocka_unit_test(a_store_that_goes_away_meanwhile_is_no_good),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
