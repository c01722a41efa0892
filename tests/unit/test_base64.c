/* The base64 decoder against libsodium's encoder, in pieces of every size. */
#include "base/rand.h"
#include "proto/base64.h"
#include "seed.h"

#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#define BYTES_MAX 400
#define TEXT_MAX 2000
#define ROUNDS 20000

/* Decodes in pieces of at most room bytes; false when it is not base64. */
static bool decode(struct slice text, size_t room, uint8_t *out, size_t *len)
{
    struct base64 reader;
    size_t got;
    *len = 0;
    base64_open(&reader, text);
    while ((got = base64_read(&reader, out + *len, room)) > 0) {
        assert_true(got <= room);
        *len += got;
        assert_true(*len <= TEXT_MAX);
    }
    return base64_is_good(&reader);
}

static void assert_decodes(const char *text, const char *expected)
{
    uint8_t out[TEXT_MAX + 8];
    size_t len;
    for (size_t room = 3; room <= 16; room++) {
        assert_true(decode(slice_from(text), room, out, &len));
        assert_int_equal(len, strlen(expected));
        assert_memory_equal(out, expected, len);
    }
}

static void assert_refuses(const char *text)
{
    uint8_t out[TEXT_MAX + 8];
    size_t len;
    for (size_t room = 3; room <= 16; room++)
        assert_false(decode(slice_from(text), room, out, &len));
}

static void padding_may_be_there_or_missing(void **state)
{
    (void)state;
    assert_decodes("", "");
    assert_decodes("Zg==", "f");
    assert_decodes("Zg=", "f");
    assert_decodes("Zg", "f");
    assert_decodes("Zm8=", "fo");
    assert_decodes("Zm8", "fo");
    assert_decodes("Zm9v", "foo");
    assert_decodes("Zm9vYmFy", "foobar");
}

static void both_alphabets_and_white_space_are_read(void **state)
{
    (void)state;
    assert_decodes("fn5+Pz8/", "~~~???");
    assert_decodes("fn5-Pz8_", "~~~???");
    assert_decodes(" Zm\r\n9v\tYm\n\nFy \r\n", "foobar");
    assert_decodes("Z g = \n =", "f");
}

static void a_data_uri_prefix_is_skipped(void **state)
{
    (void)state;
    assert_decodes("data:image/png;base64,Zm9v", "foo");
    assert_decodes("DATA:image/jpeg;charset=x;BASE64,Zm9v", "foo");
    assert_decodes("\r\n data:;base64,Zm9v", "foo");
    assert_refuses("data:image/png,Zm9v");
    assert_refuses("data:image/png;base64Zm9v");
}

static void what_is_not_base64_is_refused(void **state)
{
    (void)state;
    assert_refuses("Z");
    assert_refuses("Zm9vY");
    assert_refuses("Zm9v=");
    assert_refuses("=");
    assert_refuses("Z===");
    assert_refuses("Zg===");
    assert_refuses("Zm8==");
    assert_refuses("Zg==Zg==");
    assert_refuses("Zg==Zm");
    assert_refuses("Zm9v!");
    assert_refuses("Zm9v\xc3\xa4");
    uint8_t out[16];
    size_t len;
    assert_false(decode((struct slice){"Zm9v\0Zm9v", 9}, 16, out, &len));
}

/* Writes the text with line breaks, without padding or in the other alphabet, at random. */
static size_t spell(struct rand *rand, const uint8_t *bytes, size_t len, char *text)
{
    char plain[TEXT_MAX];
    const int variants[] = {
        sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
        sodium_base64_VARIANT_URLSAFE, sodium_base64_VARIANT_URLSAFE_NO_PADDING};
    const char *at =
        sodium_bin2base64(plain, sizeof(plain), bytes, len, variants[rand_below(rand, 4)]);
    const uint64_t every = 1 + rand_below(rand, 100);
    const bool is_wrapped = rand_below(rand, 2) == 0;
    size_t count = 0;
    for (; *at != '\0'; at++) {
        text[count++] = *at;
        if (is_wrapped && rand_below(rand, every) == 0)
            text[count++] = "\r\n\t "[rand_below(rand, 4)];
    }
    return count;
}

static void every_spelling_of_random_bytes_decodes_to_them(void **state)
{
    (void)state;
    struct rand rand;
    uint8_t bytes[BYTES_MAX];
    uint8_t out[TEXT_MAX + 8];
    char text[TEXT_MAX];
    rand_init(&rand, seed_value());
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t len = (size_t)rand_below(&rand, BYTES_MAX);
        size_t decoded;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)rand_below(&rand, 256);
        const size_t chars = spell(&rand, bytes, len, text);
        const size_t room = 3 + (size_t)rand_below(&rand, 100);
        assert_true(decode((struct slice){text, chars}, room, out, &decoded));
        assert_int_equal(decoded, len);
        assert_memory_equal(out, bytes, len);
    }
}

static void random_text_is_decoded_as_libsodium_would_or_refused(void **state)
{
    (void)state;
    static const char letters[] = "ABCDabcd0123+/=z";
    struct rand rand;
    uint8_t ours[64];
    uint8_t theirs[64];
    char text[40];
    rand_init(&rand, seed_value() + 1);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t chars = (size_t)rand_below(&rand, sizeof(text));
        size_t our_len;
        size_t their_len;
        for (size_t i = 0; i < chars; i++)
            text[i] = letters[rand_below(&rand, sizeof(letters) - 1)];
        const bool is_good = decode((struct slice){text, chars}, 7, ours, &our_len);
        const bool is_theirs =
            sodium_base642bin(theirs, sizeof(theirs), text, chars, NULL, &their_len, NULL,
                              sodium_base64_VARIANT_ORIGINAL) == 0;
        /* We take more than libsodium does, but never less and never something else. */
        assert_true(is_good || !is_theirs);
        if (is_theirs) {
            assert_int_equal(our_len, their_len);
            assert_memory_equal(ours, theirs, our_len);
        }
    }
}

static uint64_t time_to_read(char filling)
{
    static char text[1 << 20];
    uint8_t out[4096];
    struct base64 reader;
    struct timespec start, end;
    memset(text, filling, sizeof(text));
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    base64_open(&reader, (struct slice){text, sizeof(text)});
    while (base64_read(&reader, out, sizeof(out)) > 0)
        continue;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (uint64_t)((end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec);
}

/* One fair comparison is enough: what is slower by its nature loses all of them, and what a busy machine made slow does
 * not. */
static void white_space_takes_no_longer_than_letters_do(void **state)
{
    (void)state;
    bool was_as_fast = false;
    for (int i = 0; i < 100 && !was_as_fast; i++) {
        const uint64_t letters_ns = time_to_read('A');
        const uint64_t spaces_ns = time_to_read(' ');
        was_as_fast = spaces_ns < 3 * letters_ns;
        if (!was_as_fast)
            printf("# letters %llu us, spaces %llu us\n", (unsigned long long)letters_ns / 1000,
                   (unsigned long long)spaces_ns / 1000);
    }
    assert_true(was_as_fast);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_may_be_there_or_missing),
        cmocka_unit_test(both_alphabets_and_white_space_are_read),
        cmocka_unit_test(a_data_uri_prefix_is_skipped),
        cmocka_unit_test(what_is_not_base64_is_refused),
        cmocka_unit_test(every_spelling_of_random_bytes_decodes_to_them),
        cmocka_unit_test(white_space_takes_no_longer_than_letters_do),
        cmocka_unit_test(random_text_is_decoded_as_libsodium_would_or_refused),
    };
    seed_init(argc, argv);
    if (sodium_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
