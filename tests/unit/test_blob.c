/* Blobs: counts, bytes and the deaths they must die. */
#include "base/blob.h"
#include "base/rand.h"
#include "dies.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BLOBS 30
#define STEPS 20000
#define MOST_BYTES 300

static void a_blob_is_a_copy_with_a_hidden_nul(void **state)
{
    (void)state;
    char text[] = "solution";
    struct blob *blob = blob_new(slice_from(text));
    text[0] = 'X';
    blob_check(blob);
    assert_int_equal(blob->refs, 1);
    assert_int_equal(blob->len, 8);
    assert_string_equal(blob->data, "solution");
    assert_true(slice_equals(blob_slice(blob), SLICE_OF("solution")));
    blob_unref(blob);
}

static void bytes_may_hold_nuls_and_may_be_none(void **state)
{
    (void)state;
    struct blob *nuls = blob_new((struct slice){.data = "a\0b", .len = 3});
    assert_memory_equal(nuls->data, "a\0b", 4);
    struct blob *empty = blob_new(SLICE_NONE);
    assert_int_equal(empty->len, 0);
    assert_string_equal(empty->data, "");
    blob_unref(nuls);
    blob_unref(empty);
}

static void nothing_can_be_referenced_and_released(void **state)
{
    (void)state;
    assert_null(blob_ref(NULL));
    blob_unref(NULL);
    assert_false(slice_is_given(blob_slice(NULL)));
}

/* The oracle counts references by hand; the leak checker proves that the last one frees. */
static void random_references_agree_with_a_tally(void **state)
{
    (void)state;
    static struct blob *blobs[BLOBS];
    static uint32_t tally[BLOBS];
    static char bytes[MOST_BYTES];
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < STEPS; i++) {
        const size_t at = (size_t)rand_below(&rand, BLOBS);
        if (tally[at] == 0) {
            const size_t len = (size_t)rand_below(&rand, MOST_BYTES + 1);
            memset(bytes, (int)at + 'A', len);
            blobs[at] = blob_new((struct slice){.data = bytes, .len = len});
            tally[at] = 1;
        } else if (rand_below(&rand, 2) == 0) {
            assert_ptr_equal(blob_ref(blobs[at]), blobs[at]);
            tally[at]++;
        } else {
            assert_int_equal(blobs[at]->refs, tally[at]);
            blob_check(blobs[at]);
            for (uint32_t byte = 0; byte < blobs[at]->len; byte++)
                assert_int_equal(blobs[at]->data[byte], (int)at + 'A');
            blob_unref(blobs[at]);
            tally[at]--;
        }
    }
    for (size_t at = 0; at < BLOBS; at++)
        for (; tally[at] > 0; tally[at]--)
            blob_unref(blobs[at]);
}

static void reference(void *context)
{
    (void)blob_ref(context);
}

static void release(void *context)
{
    blob_unref(context);
}

static void check(void *context)
{
    blob_check(context);
}

static void a_count_that_would_overflow_aborts(void **state)
{
    (void)state;
    struct blob *blob = blob_new(SLICE_OF("x"));
    blob->refs = UINT32_MAX - 1;
    assert_false(dies(reference, blob));
    blob->refs = UINT32_MAX;
    assert_true(dies(reference, blob));
    blob->refs = 1;
    blob_unref(blob);
}

static void using_a_dead_blob_aborts(void **state)
{
    (void)state;
    struct blob *blob = blob_new(SLICE_OF("x"));
    blob->refs = 0;
    assert_true(dies(reference, blob));
    assert_true(dies(release, blob));
    assert_true(dies(check, blob));
    blob->refs = 1;
    blob->data[1] = 'y';
    assert_true(dies(check, blob));
    blob_unref(blob);
}

static void allocate_too_much(void *context)
{
    (void)context;
    (void)blob_alloc((size_t)UINT32_MAX + 1);
}

static void a_length_past_32_bits_aborts(void **state)
{
    (void)state;
    assert_true(dies(allocate_too_much, NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blob_is_a_copy_with_a_hidden_nul),
        cmocka_unit_test(bytes_may_hold_nuls_and_may_be_none),
        cmocka_unit_test(nothing_can_be_referenced_and_released),
        cmocka_unit_test(random_references_agree_with_a_tally),
        cmocka_unit_test(a_count_that_would_overflow_aborts),
        cmocka_unit_test(using_a_dead_blob_aborts),
        cmocka_unit_test(a_length_past_32_bits_aborts),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
