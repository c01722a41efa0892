/* Clients by key, through the memo: always what the configuration alone would say. */
#include "base/rand.h"
#include "config/config_clients.h"
#include "gate/client_keys.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CLIENTS 600
#define KEY_LEN 32

static struct config config;
static struct client_keys keys;

static struct slice key_of(unsigned number, char text[KEY_LEN + 1])
{
    (void)snprintf(text, KEY_LEN + 1, "key-of-client-%018u", number);
    return (struct slice){.data = text, .len = KEY_LEN};
}

static int open_keys(void **state)
{
    (void)state;
    char text[KEY_LEN + 1];
    config.clients = calloc(CLIENTS, sizeof(*config.clients));
    config.client_count = CLIENTS;
    for (unsigned i = 0; i < CLIENTS; i++)
        config_hash_key(key_of(i, text), config.clients[i].key_hash);
    clients_index(&config);
    client_keys_init(&keys, &config);
    return 0;
}

static int close_keys(void **state)
{
    (void)state;
    client_keys_close(&keys);
    config_close(&config);
    config = (struct config){.client_count = 0};
    return 0;
}

static void every_key_finds_its_client_the_first_time_and_ever_after(void **state)
{
    (void)state;
    char text[KEY_LEN + 1];
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < 20000; i++) {
        const unsigned number = (unsigned)rand_below(&rand, CLIENTS + 100);
        const long expected = number < CLIENTS ? (long)number : -1;
        assert_int_equal(client_keys_find(&keys, key_of(number, text)), expected);
    }
}

static void a_key_that_differs_in_one_bit_or_its_length_does_not_find_it(void **state)
{
    (void)state;
    char text[KEY_LEN + 1];
    const struct slice key = key_of(5, text);
    assert_int_equal(client_keys_find(&keys, key), 5);
    for (size_t bit = 0; bit < KEY_LEN * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        const long found = client_keys_find(&keys, key);
        assert_int_not_equal(found, 5);
        assert_int_equal(found, config_find_client(&config, key)); /* some digits are another's */
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    assert_int_equal(client_keys_find(&keys, (struct slice){.data = text, .len = KEY_LEN - 1}), -1);
    assert_int_equal(client_keys_find(&keys, SLICE_OF("")), -1);
    assert_int_equal(client_keys_find(&keys, SLICE_NONE), -1);
    assert_int_equal(client_keys_find(&keys, key), 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_key_finds_its_client_the_first_time_and_ever_after,
                                        open_keys, close_keys),
        cmocka_unit_test_setup_teardown(
            a_key_that_differs_in_one_bit_or_its_length_does_not_find_it, open_keys, close_keys),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
