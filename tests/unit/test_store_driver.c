#include "seed.h"
#include "store/store_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* This program has a list of drivers of its own, compiled without the optional ones. */

static void assert_told(const char *url, const char *words)
{
    struct store *store;
    struct buf mistake;
    buf_init(&mistake, 1024);
    const struct store_place place = {.url = url};
    assert_int_equal(store_lock(&place, &store, &mistake), STORE_UNUSABLE);
    assert_null(store);
    buf_add_char(&mistake, '\0');
    assert_non_null(strstr(mistake.data, words));
    assert_null(strstr(mistake.data, "password"));
    buf_close(&mistake);
}

static void a_build_without_a_store_names_the_option_that_adds_it(void **state)
{
    (void)state;
    assert_told("postgresql://user:password@host/db", "-Dpostgres=enabled");
    assert_told("postgres://user:password@host/db", "-Dpostgres=enabled");
    assert_told("redis://user:password@host", "-Dredis=enabled");
    assert_told("rediss://user:password@host", "-Dredis=enabled");
    assert_told("valkey://user:password@host", "-Dredis=enabled");
}

static void sqlite_is_always_there(void **state)
{
    (void)state;
    const char *address;
    assert_non_null(store_driver_find("sqlite:/var/lib/solvegate", &address));
    assert_null(store_driver_find("postgresql://host/db", &address));
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_without_a_store_names_the_option_that_adds_it),
        cmocka_unit_test(sqlite_is_always_there),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
