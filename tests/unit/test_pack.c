/* Packed parameters: what is kept, and that nothing read back from a disk is trusted. */
#include "base/rand.h"
#include "params_kit.h"
#include "proto/form.h"
#include "proto/multipart.h"
#include "proto/pack.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void transport_fields_are_not_packed_and_the_rest_comes_back(void **state)
{
    (void)state;
    params_reset(&params);
    assert_int_equal(
        params_add_form(&params,
                        SLICE_OF("key=1&json=1&soft_id=1&header_acao=1&pingback=1&callback=1&"
                                 "debug=1&wait=1&reuse=1&min_ttl=1&max_age=1&priority=1&"
                                 "idempotency_key=1&method=post&e=")),
        0);
    assert_int_equal(params_add_multipart(&params,
                                          SLICE_OF("--B\r\nContent-Disposition: form-data; "
                                                   "name=\"file\"; filename=\"x.png\"\r\n\r\n"
                                                   "\0\xff\r\n--B--"),
                                          SLICE_OF("B")),
                     0);
    struct blob *const packed = params_pack(&params);
    assert_int_equal(params_unpack(&params, packed), 0);
    assert_int_equal(params.count, 3);
    assert_value("method", "post");
    assert_value("e", "");
    const struct param *const file = params_find(&params, SLICE_OF("file"));
    assert_true(slice_equals(file->value, (struct slice){"\0\xff", 2}));
    assert_true(slice_equals(file->filename, SLICE_OF("x.png")));
    assert_false(slice_is_given(params_find(&params, SLICE_OF("e"))->filename));
    blob_unref(packed);
}

static void a_full_set_of_long_values_survives(void **state)
{
    (void)state;
    static char form[PARAMS_MAX * 1100];
    size_t len = 0;
    for (int i = 0; i < PARAMS_MAX; i++)
        len += (size_t)snprintf(form + len, sizeof(form) - len, "p%d=%0*d&", i, 1000 + i, i);
    params_reset(&params);
    assert_int_equal(params_add_form(&params, (struct slice){form, len}), 0);
    struct blob *const packed = params_pack(&params);
    assert_int_equal(params_unpack(&params, packed), 0);
    assert_int_equal(params.count, PARAMS_MAX);
    assert_int_equal(params_value(&params, SLICE_OF("p63")).len, 1063);
    /* Packing what was unpacked gives the same bytes. */
    struct blob *const again = params_pack(&params);
    assert_true(slice_equals(blob_slice(packed), blob_slice(again)));
    blob_unref(again);
    blob_unref(packed);
}

static void damaged_packs_are_refused_or_read_but_never_crash(void **state)
{
    (void)state;
    struct rand rand;
    struct buf bytes;
    size_t refused = 0;
    rand_init(&rand, seed_value());
    buf_init(&bytes, PARAMS_CAP);
    params_reset(&params);
    assert_int_equal(params_add_multipart(&params,
                                          SLICE_OF("--B\r\nContent-Disposition: form-data; "
                                                   "name=\"file\"; filename=\"x.png\"\r\n\r\n12\r\n"
                                                   "--B\r\nContent-Disposition: form-data; "
                                                   "name=\"method\"\r\n\r\npost\r\n--B--"),
                                          SLICE_OF("B")),
                     0);
    struct blob *const packed = params_pack(&params);
    for (size_t i = 0; i < MUTATIONS; i++) {
        buf_reset(&bytes);
        buf_add(&bytes, blob_slice(packed));
        mutate(&bytes, &rand);
        struct blob *const damaged = blob_new(buf_slice(&bytes));
        refused += params_unpack(&params, damaged) != 0;
        for (size_t j = 0; j < params.count; j++) {
            const struct slice value = params.items[j].value;
            assert_true(value.data >= damaged->data &&
                        value.data + value.len <= damaged->data + damaged->len);
        }
        params_reset(&params);
        blob_unref(damaged);
    }
    assert_true(refused > MUTATIONS / 4);
    /* Every cut is noticed. */
    for (size_t len = 0; len < packed->len; len++) {
        struct blob *const cut = blob_new((struct slice){packed->data, len});
        assert_int_equal(params_unpack(&params, cut), ERR_INVALID);
        blob_unref(cut);
    }
    blob_unref(packed);
    buf_close(&bytes);
}

static void packs_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct slice lies[] = {
        {"", 0},
        {"\0\0", 2},     /* no such version */
        {"\x01\x41", 2}, /* more than there can be */
        {"\x01\x01", 2}, /* more than there are */
        {"\x01\0x", 3},  /* fewer */
        {"\x01\x01\0\x01\xff\xff\xff\xff"
         "a",
         9},                         /* a value without end */
        {"\x01\x01\0\0\0\0\0\0", 8}, /* no name */
        {"\x01\x01\x02\x01\0\0\0\0"
         "a",
         9}, /* unknown flags */
        {"\x01\x01\x01\x01\0\0\0\0\xff\xff"
         "a",
         11}, /* a filename without end */
        {"\x01\x02\0\x01\0\0\0\0"
         "a"
         "\0\x01\0\0\0\0"
         "a",
         16}, /* one name twice */
    };
    struct blob *packed = blob_new((struct slice){"\x01\x02\0\x01\0\0\0\0"
                                                  "a"
                                                  "\0\x01\0\0\0\0"
                                                  "b",
                                                  16});
    assert_int_equal(params_unpack(&params, packed), 0);
    blob_unref(packed);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        packed = blob_new(lies[i]);
        assert_int_equal(params_unpack(&params, packed), ERR_INVALID);
        blob_unref(packed);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        PARAMS_TEST(transport_fields_are_not_packed_and_the_rest_comes_back),
        PARAMS_TEST(a_full_set_of_long_values_survives),
        PARAMS_TEST(packs_that_lie_are_refused),
        PARAMS_TEST(damaged_packs_are_refused_or_read_but_never_crash),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
