/* The list of drivers as a build without the optional ones has it: this file's definitions come before those of the
 * library. */
#undef SOLVEGATE_HAVE_POSTGRES
#undef SOLVEGATE_HAVE_REDIS
#include "store/store_driver.c"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void assert_says(const char *url, const char *words)
{
    struct store *store;
    struct buf mistake;
    buf_init(&mistake, 1024);
    const struct store_place place = {.url = url};
    assert_int_equal(store_lock(&place, &store, &mistake), STORE_UNUSABLE);
    assert_null(store);
    buf_add_char(&mistake, '\0');
    if (strstr(mistake.data, words) == NULL)
        fail_msg("%s", mistake.data);
    assert_null(strstr(mistake.data, "s3cr3t"));
    buf_close(&mistake);
}

static void a_build_without_a_driver_says_which_option_adds_it(void **state)
{
    (void)state;
    static const char *const redis[] = {"redis",      "rediss",      "valkey", "valkeys",
                                        "redis+unix", "valkey+unix", "unix",   "REDIS"};
    char url[64];
    for (size_t i = 0; i < sizeof(redis) / sizeof(redis[0]); i++) {
        (void)snprintf(url, sizeof(url), "%s://me:s3cr3t@host", redis[i]);
        assert_says(url, "build it with -Dredis=enabled");
    }
    assert_says("postgresql://me:s3cr3t@host/db", "build it with -Dpostgres=enabled");
    assert_says("postgres://me:s3cr3t@host/db", "build it with -Dpostgres=enabled");
}

static void a_scheme_that_no_option_adds_is_called_unknown(void **state)
{
    (void)state;
    assert_says("mysql://me:s3cr3t@host", "no store is called \"mysql\"");
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_without_a_driver_says_which_option_adds_it),
        cmocka_unit_test(a_scheme_that_no_option_adds_is_called_unknown),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
