#include "seed.h"

#include "base/rand.h"
#include "proto/nonce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint8_t SECRET[NONCE_SECRET_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t OTHER[NONCE_SECRET_BYTES] = {1, 2, 3, 4, 5, 6, 7, 9};

static struct slice nonce_of(const char text[NONCE_CHARS + 1])
{
    return (struct slice){.data = text, .len = NONCE_CHARS};
}

static void a_nonce_names_its_attempt(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < 1000; i++) {
        const attempt_id attempt = i == 0 ? 0 : i == 1 ? UINT64_MAX : rand_u64(&rand);
        char text[NONCE_CHARS + 1];
        attempt_id found = 42;
        nonce_write(SECRET, attempt, text);
        assert_int_equal(strlen(text), NONCE_CHARS);
        assert_true(nonce_read(SECRET, nonce_of(text), &found));
        assert_true(found == attempt);
    }
}

static void its_spelling_stays_the_same_across_versions(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    nonce_write(SECRET, 0x0123456789abcdefu, text);
    assert_memory_equal(text, "0123456789abcdef", 16);
    /* A restart must honour the callbacks of the process before it. */
    assert_string_equal(text, "0123456789abcdef3615ae646f1ad6c5b62d4963716a1fc5");
}

static void any_other_byte_anywhere_is_refused(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    nonce_write(SECRET, 77, text);
    for (size_t place = 0; place < NONCE_CHARS; place++) {
        const char genuine = text[place];
        for (int byte = 0; byte < 256; byte++) {
            if ((char)byte == genuine)
                continue;
            attempt_id found = 42;
            text[place] = (char)byte;
            assert_false(nonce_read(SECRET, nonce_of(text), &found));
            assert_true(found == 42);
        }
        text[place] = genuine;
    }
    attempt_id found = 42;
    assert_true(nonce_read(SECRET, nonce_of(text), &found));
}

static void any_other_length_is_refused(void **state)
{
    (void)state;
    char text[2 * NONCE_CHARS + 2] = {0};
    attempt_id found = 42;
    nonce_write(SECRET, 77, text);
    nonce_write(SECRET, 77, text + NONCE_CHARS);
    for (size_t len = 0; len <= 2 * NONCE_CHARS; len++)
        if (len != NONCE_CHARS)
            assert_false(nonce_read(SECRET, (struct slice){.data = text, .len = len}, &found));
    assert_false(nonce_read(SECRET, SLICE_NONE, &found));
    assert_true(found == 42);
}

static void upper_case_is_refused(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    attempt_id found;
    nonce_write(SECRET, 0xabcdefabcdefabcdu, text);
    for (size_t i = 0; i < NONCE_CHARS; i++) {
        const char genuine = text[i];
        if (genuine < 'a')
            continue;
        text[i] = (char)(genuine - 'a' + 'A');
        assert_false(nonce_read(SECRET, nonce_of(text), &found));
        text[i] = genuine;
    }
}

static void another_secret_makes_another_nonce(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    char other[NONCE_CHARS + 1];
    attempt_id found;
    nonce_write(SECRET, 5, text);
    nonce_write(OTHER, 5, other);
    assert_string_not_equal(text, other);
    assert_false(nonce_read(OTHER, nonce_of(text), &found));
}

static void a_mac_fits_one_attempt_only(void **state)
{
    (void)state;
    char five[NONCE_CHARS + 1];
    char six[NONCE_CHARS + 1];
    attempt_id found;
    nonce_write(SECRET, 5, five);
    nonce_write(SECRET, 6, six);
    memcpy(six + 16, five + 16, NONCE_CHARS - 16);
    assert_false(nonce_read(SECRET, nonce_of(six), &found));
}

static void random_guesses_are_refused(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < 100000; i++) {
        char text[NONCE_CHARS + 1];
        attempt_id found;
        for (size_t place = 0; place < NONCE_CHARS; place++)
            text[place] = "0123456789abcdef"[rand_below(&rand, 16)];
        assert_false(nonce_read(SECRET, nonce_of(text), &found));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nonce_names_its_attempt),
        cmocka_unit_test(its_spelling_stays_the_same_across_versions),
        cmocka_unit_test(any_other_byte_anywhere_is_refused),
        cmocka_unit_test(any_other_length_is_refused),
        cmocka_unit_test(upper_case_is_refused),
        cmocka_unit_test(another_secret_makes_another_nonce),
        cmocka_unit_test(a_mac_fits_one_attempt_only),
        cmocka_unit_test(random_guesses_are_refused),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
