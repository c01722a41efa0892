/* Identity of images: the whole decoded picture counts, however it was sent. */
#include "encode.h"
#include "proto/key.h"
#include "proto/multipart.h"
#include "seed.h"

#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CAP ((size_t)4 * 1024 * 1024)
#define IMAGE_BYTES 5000
#define FIELDS_MAX 8

static struct params params;
static struct buf scratch;
static struct buf body;
static struct identity identity;
static struct identity_options options = {.secret = {7}};
static uint8_t image[IMAGE_BYTES];
static char text[2 * IMAGE_BYTES];

static int setup(void **state)
{
    (void)state;
    params_init(&params, CAP);
    buf_init(&scratch, IDENTITY_SCRATCH_BYTES);
    buf_init(&body, CAP);
    for (size_t i = 0; i < IMAGE_BYTES; i++)
        image[i] = (uint8_t)(i * i >> 3);
    (void)sodium_bin2base64(text, sizeof(text), image, IMAGE_BYTES, sodium_base64_VARIANT_ORIGINAL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    params_close(&params);
    buf_close(&scratch);
    buf_close(&body);
    return 0;
}

static struct slice picture(size_t len)
{
    return (struct slice){(const char *)image, len};
}

static int compute(const struct field *fields, size_t count)
{
    const struct identity_scope scope = identity_scope_of(&options, SLICE_OF("crawler"));
    encode_multipart(&body, fields, count, NULL);
    params_reset(&params);
    assert_int_equal(params_add_multipart(&params, buf_slice(&body), SLICE_OF(ENCODE_BOUNDARY)), 0);
    return identity_compute(&options, &params, &scope, &scratch, &identity);
}

/* method, the image in `name`, and one more field unless it is NULL. */
static int compute_image(const char *method, const char *name, struct slice value, bool is_file,
                         const char *more, const char *more_value)
{
    struct field fields[3];
    size_t count = 0;
    if (method != NULL)
        fields[count++] = (struct field){SLICE_OF("method"), slice_from(method), false};
    if (name != NULL)
        fields[count++] = (struct field){slice_from(name), value, is_file};
    if (more != NULL)
        fields[count++] = (struct field){slice_from(more), slice_from(more_value), false};
    return compute(fields, count);
}

static struct key file_key(const char *more, const char *more_value)
{
    const int code = compute_image("post", "file", picture(IMAGE_BYTES), true, more, more_value);
    assert_int_equal(code, 0);
    return identity.key;
}

static struct key body_key(struct slice base64)
{
    assert_int_equal(compute_image("base64", "body", base64, false, NULL, NULL), 0);
    return identity.key;
}

static bool equals(struct key a, struct key b)
{
    return memcmp(a.bytes, b.bytes, KEY_BYTES) == 0;
}

static void a_file_and_its_base64_are_one_request(void **state)
{
    (void)state;
    char spelled[2 * IMAGE_BYTES + 100];
    const struct key file = file_key(NULL, NULL);
    assert_int_equal(identity.type, TYPE_IMAGE);
    assert_true(slice_equals(identity.method, SLICE_OF("post")));
    assert_int_equal(identity.field_count, 1);
    assert_true(slice_equals(identity.fields[0].name, SLICE_OF("image")));
    assert_true(slice_starts_with(identity.fields[0].value, SLICE_OF("blake2b:")));
    assert_int_equal(identity.fields[0].value.len, 8 + 64);
    assert_true(equals(file, body_key(slice_from(text))));
    (void)snprintf(spelled, sizeof(spelled), "data:image/png;base64,%.100s\r\n%s", text,
                   text + 100);
    assert_true(equals(file, body_key(slice_from(spelled))));
    (void)sodium_bin2base64(spelled, sizeof(spelled), image, IMAGE_BYTES,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    assert_true(equals(file, body_key(slice_from(spelled))));
    /* A missing method with a file means post. */
    assert_int_equal(compute_image(NULL, "file", picture(IMAGE_BYTES), true, NULL, NULL), 0);
    assert_true(equals(file, identity.key));
    assert_true(slice_equals(identity.method, SLICE_OF("post")));
}

static void every_byte_of_an_image_counts(void **state)
{
    (void)state;
    const struct key whole = file_key(NULL, NULL);
    for (size_t at = 0; at < IMAGE_BYTES; at += 499) {
        image[at] ^= 1;
        assert_false(equals(whole, file_key(NULL, NULL)));
        image[at] ^= 1;
    }
    image[IMAGE_BYTES - 1] ^= 1;
    assert_false(equals(whole, file_key(NULL, NULL)));
    image[IMAGE_BYTES - 1] ^= 1;
    const int code = compute_image("post", "file", picture(IMAGE_BYTES - 1), true, NULL, NULL);
    assert_int_equal(code, 0);
    assert_false(equals(whole, identity.key));
}

static void recognition_options_count_unless_they_are_the_default(void **state)
{
    (void)state;
    static const char *const names[] = {"phrase",  "regsense", "numeric", "calc",
                                        "min_len", "max_len",  "language"};
    const struct key plain = file_key(NULL, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(equals(plain, file_key(names[i], "0")));
        assert_true(equals(plain, file_key(names[i], "")));
        assert_false(equals(plain, file_key(names[i], "1")));
    }
    assert_false(equals(plain, file_key("lang", "en")));
    assert_false(equals(plain, file_key("textinstructions", "red only")));
    assert_false(equals(plain, file_key("img_type", "recaptcha")));
    assert_false(equals(plain, file_key("can_no_answer", "0")));
}

static void what_clients_note_beside_an_image_does_not_count(void **state)
{
    (void)state;
    const struct key plain = file_key(NULL, NULL);
    static const char *const notes[][2] = {
        {"filename", "captcha-17.png"},
        {"ext", "png"},
        {"body", ""},
        {"lang", ""},
        {"textinstructions", ""},
        {"imginstructions", ""},
        {"is_russian", "0"},
        {"recaptcharows", ""},
        {"textcaptcha", ""},
        {"_", "1763400000000"},
    };
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (!equals(plain, file_key(notes[i][0], notes[i][1])))
            fail_msg("%s=%s is paid for again", notes[i][0], notes[i][1]);
    assert_int_equal(compute_image("base64", "body", slice_from(text), false, "file", ""), 0);
    assert_true(equals(plain, identity.key));
    assert_int_equal(compute_image("base64", "body", slice_from(text), false, "ext", "gif"), 0);
    assert_true(equals(plain, identity.key));
    /* A name that means something for another method counts there. */
    assert_int_equal(compute_image("brand_new", NULL, SLICE_NONE, false, "ext", "gif"), 0);
    const struct key gif = identity.key;
    assert_int_equal(compute_image("brand_new", NULL, SLICE_NONE, false, "ext", "png"), 0);
    assert_false(equals(gif, identity.key));
    /* Nothing but empty fields is no image. */
    struct field empty[] = {
        {SLICE_OF("method"), SLICE_OF("post"), false},
        {SLICE_OF("file"), SLICE_OF(""), true},
        {SLICE_OF("body"), SLICE_OF(""), false},
    };
    assert_int_equal(compute(empty, 2), ERR_INVALID);
    assert_int_equal(compute(empty, 3), ERR_INVALID);
}

static void a_body_without_a_method_is_base64(void **state)
{
    (void)state;
    const struct key file = file_key(NULL, NULL);
    assert_int_equal(compute_image(NULL, "body", slice_from(text), false, NULL, NULL), 0);
    assert_true(equals(file, identity.key));
    assert_true(slice_equals(identity.method, SLICE_OF("base64")));
    assert_int_equal(compute_image("", "body", slice_from(text), false, NULL, NULL), 0);
    assert_true(equals(file, identity.key));
    assert_int_equal(compute_image(NULL, "body", SLICE_OF(""), false, NULL, NULL), ERR_INVALID);
}

static void images_that_could_be_confused_stay_apart(void **state)
{
    (void)state;
    char digest[80];
    const struct key file = file_key(NULL, NULL);
    /* Which of two images the vendor takes depends on the method, so nothing is merged. */
    struct field both[] = {
        {SLICE_OF("method"), SLICE_OF("post"), false},
        {SLICE_OF("file"), picture(IMAGE_BYTES), true},
        {SLICE_OF("body"), slice_from(text), false},
    };
    assert_int_equal(compute(both, 3), 0);
    const struct key as_post = identity.key;
    both[0].value = SLICE_OF("base64");
    assert_int_equal(compute(both, 3), 0);
    assert_false(equals(as_post, identity.key));
    assert_false(equals(as_post, file));
    /* A body under post is something the vendor may refuse. */
    assert_int_equal(compute_image("post", "body", slice_from(text), false, NULL, NULL), 0);
    assert_false(equals(file, identity.key));
    /* The canonical form itself cannot be sent. */
    (void)file_key(NULL, NULL);
    (void)snprintf(digest, sizeof(digest), "%.72s", identity.fields[0].value.data);
    assert_int_equal(compute_image("image", "image", picture(IMAGE_BYTES), true, NULL, NULL), 0);
    assert_false(equals(file, identity.key));
    assert_int_equal(compute_image("post", "image", slice_from(digest), false, NULL, NULL), 0);
    assert_false(equals(file, identity.key));
}

static void other_methods_hash_their_images_too(void **state)
{
    (void)state;
    assert_int_equal(compute_image("rotatecaptcha", "file", picture(500), true, NULL, NULL), 0);
    assert_int_equal(identity.type, TYPE_IMAGE);
    assert_int_equal(
        compute_image("bls", "image_base64_1", slice_from(text), false, "instructions", "664"), 0);
    const struct key bls = identity.key;
    assert_int_equal(identity.type, TYPE_IMAGE);
    char uri[2 * IMAGE_BYTES + 100];
    (void)snprintf(uri, sizeof(uri), "data:image/gif;base64,%s", text);
    assert_int_equal(
        compute_image("bls", "image_base64_1", slice_from(uri), false, "instructions", "664"), 0);
    assert_true(equals(bls, identity.key));
    assert_int_equal(
        compute_image("bls", "image_base64_2", slice_from(uri), false, "instructions", "664"),
        ERR_INVALID);
    /* A method nobody documented keeps its text as it is. */
    assert_int_equal(compute_image("brand_new", "body", SLICE_OF("aGVsbG8="), false, NULL, NULL),
                     0);
    const struct key padded = identity.key;
    assert_int_equal(compute_image("brand_new", "body", SLICE_OF("aGVsbG8"), false, NULL, NULL), 0);
    assert_false(equals(padded, identity.key));
}

static void assert_mistake(int code, const char *word, const char *detail)
{
    assert_int_equal(code, ERR_INVALID);
    assert_string_equal(identity.mistake, word);
    assert_string_equal(identity.mistake_detail, detail);
}

static void impossible_images_are_refused_in_the_vendors_words(void **state)
{
    (void)state;
    const size_t limit = (size_t)1024 * 1024;
    char *const big = calloc(limit + 1, 1);
    assert_non_null(big);
    assert_mistake(compute_image("post", NULL, SLICE_NONE, false, NULL, NULL),
                   "ERROR_ZERO_CAPTCHA_FILESIZE", "method post needs an image in file or body");
    assert_mistake(compute_image("base64", "body", SLICE_OF(""), false, NULL, NULL),
                   "ERROR_ZERO_CAPTCHA_FILESIZE", "method base64 needs an image in file or body");
    assert_mistake(compute_image("post", "file", picture(0), true, NULL, NULL),
                   "ERROR_ZERO_CAPTCHA_FILESIZE", "the image has 0 bytes, fewer than 100");
    assert_mistake(compute_image("post", "file", picture(99), true, NULL, NULL),
                   "ERROR_ZERO_CAPTCHA_FILESIZE", "the image has 99 bytes, fewer than 100");
    assert_int_equal(compute_image("post", "file", picture(100), true, NULL, NULL), 0);
    assert_mistake(compute_image("base64", "body", (struct slice){text, 132}, false, NULL, NULL),
                   "ERROR_ZERO_CAPTCHA_FILESIZE", "the image has 99 bytes, fewer than 100");
    assert_int_equal(
        compute_image("base64", "body", (struct slice){text, 3100 / 3 * 4}, false, NULL, NULL), 0);
    assert_mistake(compute_image("base64", "body", SLICE_OF("not base64!"), false, NULL, NULL),
                   "ERROR_UPLOAD", "body is not base64");
    assert_int_equal(compute_image("post", "file", (struct slice){big, limit}, true, NULL, NULL),
                     0);
    assert_mistake(compute_image("post", "file", (struct slice){big, limit + 1}, true, NULL, NULL),
                   "ERROR_TOO_BIG_CAPTCHA_FILESIZE", "the image has more than 1048576 bytes");
    free(big);
    /* A text question needs no image. */
    assert_int_equal(compute_image("post", NULL, SLICE_NONE, false, "textcaptcha", "2+2?"), 0);
    assert_int_equal(identity.type, TYPE_IMAGE);
}

static void long_texts_count_to_their_last_byte(void **state)
{
    (void)state;
    for (size_t len = 505; len < 520; len++) {
        const struct slice cookies = {text, len};
        struct field fields[] = {
            {SLICE_OF("method"), SLICE_OF("brand_new"), false},
            {SLICE_OF("cookies"), cookies, false},
        };
        assert_int_equal(compute(fields, 2), 0);
        const struct key first = identity.key;
        text[len - 1] ^= 1;
        assert_int_equal(compute(fields, 2), 0);
        assert_false(equals(first, identity.key));
        text[len - 1] ^= 1;
        fields[1].value.len--;
        assert_int_equal(compute(fields, 2), 0);
        assert_false(equals(first, identity.key));
    }
    /* Far longer than the scratch is. */
    char *const huge = calloc(200000, 1);
    assert_non_null(huge);
    assert_int_equal(
        compute_image("brand_new", "cookies", (struct slice){huge, 200000}, false, NULL, NULL), 0);
    const struct key first = identity.key;
    huge[199999] = 'x';
    assert_int_equal(
        compute_image("brand_new", "cookies", (struct slice){huge, 200000}, false, NULL, NULL), 0);
    assert_false(equals(first, identity.key));
    free(huge);
}

static void the_scratch_holds_the_largest_request(void **state)
{
    (void)state;
    struct field fields[PARAMS_MAX];
    static char names[PARAMS_MAX][PARAM_NAME_MAX + 1];
    fields[0] = (struct field){SLICE_OF("method"), SLICE_OF("bls"), false};
    fields[1] = (struct field){SLICE_OF("instructions"), SLICE_OF("1"), false};
    fields[2] = (struct field){SLICE_OF("image_base64_1"), slice_from(text), false};
    static char url[8193] = "HTTP://A.EXAMPLE/";
    memset(url + 17, 'u', sizeof(url) - 18);
    fields[3] = (struct field){SLICE_OF("pageurl"), {url, 8192}, false};
    for (size_t i = 4; i < PARAMS_MAX; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%064zu", i);
        fields[i] = (struct field){{names[i], 64}, {text, 512}, i % 3 == 0};
    }
    assert_int_equal(compute(fields, PARAMS_MAX), 0);
    assert_true(scratch.len <= IDENTITY_SCRATCH_BYTES);
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_file_and_its_base64_are_one_request),
        TEST(every_byte_of_an_image_counts),
        TEST(recognition_options_count_unless_they_are_the_default),
        TEST(what_clients_note_beside_an_image_does_not_count),
        TEST(a_body_without_a_method_is_base64),
        TEST(images_that_could_be_confused_stay_apart),
        TEST(other_methods_hash_their_images_too),
        TEST(impossible_images_are_refused_in_the_vendors_words),
        TEST(long_texts_count_to_their_last_byte),
        TEST(the_scratch_holds_the_largest_request),
    };
#undef TEST
    seed_init(argc, argv);
    if (sodium_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
