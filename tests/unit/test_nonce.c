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

static void write_told(const uint8_t secret[NONCE_SECRET_BYTES], attempt_id attempt,
                       uint32_t told_s, char out[NONCE_CHARS + 1])
{
    const struct nonce nonce = {.attempt = attempt, .told_s = told_s};
    nonce_write(secret, &nonce, out);
}

static void a_nonce_names_its_attempt_and_its_moment(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < 1000; i++) {
        const attempt_id attempt = i == 0 ? 0 : i == 1 ? UINT64_MAX : rand_u64(&rand);
        char text[NONCE_CHARS + 1];
        struct nonce found = {.attempt = 42};
        const uint32_t told_s = i < 2 ? (uint32_t)attempt : (uint32_t)rand_u64(&rand);
        write_told(SECRET, attempt, told_s, text);
        assert_int_equal(strlen(text), NONCE_CHARS);
        assert_true(nonce_read(SECRET, nonce_of(text), &found));
        assert_true(found.attempt == attempt);
        assert_true(found.told_s == told_s);
    }
}

static void its_spelling_stays_the_same_across_versions(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    write_told(SECRET, 0x0123456789abcdefu, 0x65a0b1c2, text);
    assert_memory_equal(text, "0123456789abcdef65a0b1c2", 24);
    /* A restart must honour the callbacks of the process before it. */
    assert_string_equal(text, "0123456789abcdef65a0b1c2262dc2dbd08fe79c0ac3f62e1453b728");
}

#define OLD_NONCE "0123456789abcdef3615ae646f1ad6c5b62d4963716a1fc5"

static void an_older_versions_nonce_is_read_and_has_no_moment(void **state)
{
    (void)state;
    char text[] = OLD_NONCE;
    struct nonce found = {.attempt = 42, .told_s = 42};
    assert_true(nonce_read(SECRET, slice_from(text), &found));
    assert_true(found.attempt == 0x0123456789abcdefu);
    assert_int_equal(found.told_s, 0);
    assert_false(nonce_read(OTHER, slice_from(text), &found));
    for (size_t place = 0; place < strlen(text); place++) {
        text[place] = OLD_NONCE[place] == '0' ? '1' : '0';
        assert_false(nonce_read(SECRET, slice_from(text), &found));
        text[place] = OLD_NONCE[place];
    }
    assert_true(nonce_read(SECRET, slice_from(text), &found));
}

static void the_moment_cannot_be_taken_out_or_put_in(void **state)
{
    (void)state;
    struct nonce found;
    char text[NONCE_CHARS + 1];
    char shorter[NONCE_CHARS + 1];
    write_told(SECRET, 77, 0, text);
    memcpy(shorter, text, 16);
    memcpy(shorter + 16, text + 24, strlen(text + 24) + 1);
    assert_false(nonce_read(SECRET, slice_from(shorter), &found));
    const struct slice longer =
        SLICE_OF("0123456789abcdef000000003615ae646f1ad6c5b62d4963716a1fc5");
    assert_int_equal(longer.len, NONCE_CHARS);
    assert_false(nonce_read(SECRET, longer, &found));
}

static void any_other_byte_anywhere_is_refused(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    write_told(SECRET, 77, 88, text);
    for (size_t place = 0; place < NONCE_CHARS; place++) {
        const char genuine = text[place];
        for (int byte = 0; byte < 256; byte++) {
            if ((char)byte == genuine)
                continue;
            struct nonce found = {.attempt = 42};
            text[place] = (char)byte;
            assert_false(nonce_read(SECRET, nonce_of(text), &found));
            assert_true(found.attempt == 42);
        }
        text[place] = genuine;
    }
    struct nonce found = {.attempt = 42};
    assert_true(nonce_read(SECRET, nonce_of(text), &found));
}

static void any_other_length_is_refused(void **state)
{
    (void)state;
    char text[2 * NONCE_CHARS + 2] = {0};
    struct nonce found = {.attempt = 42};
    write_told(SECRET, 77, 88, text);
    write_told(SECRET, 77, 88, text + NONCE_CHARS);
    for (size_t len = 0; len <= 2 * NONCE_CHARS; len++)
        if (len != NONCE_CHARS)
            assert_false(nonce_read(SECRET, (struct slice){.data = text, .len = len}, &found));
    assert_false(nonce_read(SECRET, SLICE_NONE, &found));
    assert_true(found.attempt == 42);
}

static void upper_case_is_refused(void **state)
{
    (void)state;
    char text[NONCE_CHARS + 1];
    struct nonce found;
    write_told(SECRET, 0xabcdefabcdefabcdu, 0xabcdefab, text);
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
    struct nonce found;
    write_told(SECRET, 5, 6, text);
    write_told(OTHER, 5, 6, other);
    assert_string_not_equal(text, other);
    assert_false(nonce_read(OTHER, nonce_of(text), &found));
}

static void a_mac_fits_one_attempt_and_one_moment_only(void **state)
{
    (void)state;
    char five[NONCE_CHARS + 1];
    char six[NONCE_CHARS + 1];
    struct nonce found;
    write_told(SECRET, 5, 7, five);
    write_told(SECRET, 6, 7, six);
    memcpy(six + 24, five + 24, NONCE_CHARS - 24);
    assert_false(nonce_read(SECRET, nonce_of(six), &found));
    write_told(SECRET, 5, 8, six);
    memcpy(six + 24, five + 24, NONCE_CHARS - 24);
    assert_false(nonce_read(SECRET, nonce_of(six), &found));
}

static void random_guesses_are_refused(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < 100000; i++) {
        char text[NONCE_CHARS + 1];
        struct nonce found;
        for (size_t place = 0; place < NONCE_CHARS; place++)
            text[place] = "0123456789abcdef"[rand_below(&rand, 16)];
        assert_false(nonce_read(SECRET, nonce_of(text), &found));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nonce_names_its_attempt_and_its_moment),
        cmocka_unit_test(its_spelling_stays_the_same_across_versions),
        cmocka_unit_test(an_older_versions_nonce_is_read_and_has_no_moment),
        cmocka_unit_test(the_moment_cannot_be_taken_out_or_put_in),
        cmocka_unit_test(any_other_byte_anywhere_is_refused),
        cmocka_unit_test(any_other_length_is_refused),
        cmocka_unit_test(upper_case_is_refused),
        cmocka_unit_test(another_secret_makes_another_nonce),
        cmocka_unit_test(a_mac_fits_one_attempt_and_one_moment_only),
        cmocka_unit_test(random_guesses_are_refused),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
