#include "seed.h"

#include "base/rand.h"
#include "proto/pack.h"
#include "proto/params.h"
#include "proto/vendor.h"
#include "proto/vendor_write.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct slice KEY = {.data = "k&y=1", .len = 5};
static const struct slice PINGBACK = {.data = "https://gate/pingback/00ff?x=1&y", .len = 32};

struct written {
    struct buf body, content_type;
    struct params params; /* decoded back by the door's own parsers */
};

static void close_written(struct written *written)
{
    params_close(&written->params);
    buf_close(&written->body);
    buf_close(&written->content_type);
}

static void write_and_read_back(const struct params *source, struct slice pingback,
                                struct written *written)
{
    struct blob *packed = params_pack(source);
    assert_non_null(packed);
    buf_init(&written->body, 1 << 20);
    buf_init(&written->content_type, 256);
    assert_int_equal(
        vendor_write_submit(packed, KEY, pingback, &written->body, &written->content_type), 0);
    blob_unref(packed);
    params_init(&written->params, 1 << 20);
    assert_int_equal(params_add_body(&written->params, buf_slice(&written->content_type),
                                     buf_slice(&written->body)),
                     0);
}

static void assert_value(const struct written *written, const char *name, struct slice expected)
{
    const struct slice value = params_value(&written->params, slice_from(name));
    assert_true(slice_is_given(value));
    assert_true(slice_equals(value, expected));
}

static void fill_all_bytes(char bytes[256])
{
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
}

static void add(struct params *params, struct slice name, struct slice value, struct slice filename)
{
    params->items[params->count++] =
        (struct param){.name = name, .value = value, .filename = filename};
}

static void a_form_carries_every_byte_and_nothing_more(void **state)
{
    (void)state;
    char bytes[256];
    fill_all_bytes(bytes);
    const struct slice all = {.data = bytes, .len = sizeof(bytes)};
    struct params source;
    params_init(&source, 4096);
    add(&source, SLICE_OF("method"), SLICE_OF("userrecaptcha"), SLICE_NONE);
    add(&source, SLICE_OF("data-s"), all, SLICE_NONE);
    add(&source, SLICE_OF("data[k&=]"), SLICE_OF(""), SLICE_NONE);
    struct written written;
    write_and_read_back(&source, PINGBACK, &written);
    assert_string_equal("application/x-www-form-urlencoded",
                        (buf_add_char(&written.content_type, '\0'), written.content_type.data));
    assert_int_equal(written.params.count, 6);
    assert_value(&written, "key", KEY);
    assert_value(&written, "json", SLICE_OF("1"));
    assert_value(&written, "pingback", PINGBACK);
    assert_value(&written, "method", SLICE_OF("userrecaptcha"));
    assert_value(&written, "data-s", all);
    assert_value(&written, "data[k&=]", SLICE_OF(""));
    /* Nothing but unreserved characters, % and the separators: CR and LF cannot get through. */
    for (size_t i = 0; i < written.body.len; i++)
        assert_true(written.body.data[i] > ' ' && written.body.data[i] < 0x7f);
    close_written(&written);
    params_close(&source);
}

/* Eight letters and digits are looked at together: any other byte among them must be seen wherever it stands. */
static void every_byte_is_encoded_at_every_place_of_a_word(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 256 * 8; at++) {
        const unsigned char c = (unsigned char)(at / 8);
        char text[] = "aZ09zA5mq";
        char expected[32];
        text[at % 8] = (char)c;
        char one[4] = {(char)c};
        if (!isalnum(c) && (c == 0 || strchr("-._~", c) == NULL))
            (void)snprintf(one, sizeof(one), "%%%02X", c);
        (void)snprintf(expected, sizeof(expected), "data-s=%.*s%s%s", (int)(at % 8), text, one,
                       text + at % 8 + 1);
        struct params source;
        params_init(&source, 4096);
        add(&source, SLICE_OF("method"), SLICE_OF("userrecaptcha"), SLICE_NONE);
        add(&source, SLICE_OF("data-s"), (struct slice){.data = text, .len = 9}, SLICE_NONE);
        struct written written;
        write_and_read_back(&source, SLICE_NONE, &written);
        assert_non_null(memmem(written.body.data, written.body.len, expected, strlen(expected)));
        close_written(&written);
        params_close(&source);
    }
}

static void the_sitekey_goes_under_the_name_that_the_vendor_reads(void **state)
{
    (void)state;
    static const struct {
        const char *method, *given, *sent;
    } cases[] = {
        {"userrecaptcha", "sitekey", "googlekey"},
        {"userrecaptcha", "googlekey", "googlekey"},
        {"turnstile", "googlekey", "sitekey"},
        {"turnstile", "sitekey", "sitekey"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct params source;
        params_init(&source, 4096);
        add(&source, SLICE_OF("method"), slice_from(cases[i].method), SLICE_NONE);
        add(&source, slice_from(cases[i].given), SLICE_OF("6Le"), SLICE_NONE);
        struct written written;
        write_and_read_back(&source, SLICE_NONE, &written);
        assert_int_equal(written.params.count, 4);
        assert_value(&written, cases[i].sent, SLICE_OF("6Le"));
        close_written(&written);
        params_close(&source);
    }
}

static void each_single_byte_stays_within_its_field(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char c = (char)byte;
        struct params source;
        params_init(&source, 4096);
        add(&source, SLICE_OF("a"), (struct slice){.data = &c, .len = 1}, SLICE_NONE);
        add(&source, SLICE_OF("b"), SLICE_OF("2"), SLICE_NONE);
        struct written written;
        write_and_read_back(&source, SLICE_NONE, &written);
        assert_int_equal(written.params.count, 4);
        assert_value(&written, "a", (struct slice){.data = &c, .len = 1});
        assert_value(&written, "b", SLICE_OF("2"));
        close_written(&written);
        params_close(&source);
    }
}

static void a_file_makes_it_multipart(void **state)
{
    (void)state;
    char bytes[256];
    fill_all_bytes(bytes);
    const struct slice all = {.data = bytes, .len = sizeof(bytes)};
    struct params source;
    params_init(&source, 4096);
    add(&source, SLICE_OF("file"), all, SLICE_OF("cap\"\r\nX-Evil: 1;../../tcha.png"));
    add(&source, SLICE_OF("textinstructions"), SLICE_OF("--\r\n\r\nkey=mine"), SLICE_NONE);
    struct written written;
    write_and_read_back(&source, PINGBACK, &written);
    assert_true(slice_starts_with(buf_slice(&written.content_type),
                                  SLICE_OF("multipart/form-data; boundary=")));
    assert_int_equal(written.params.count, 6);
    assert_value(&written, "key", KEY);
    assert_value(&written, "json", SLICE_OF("1"));
    assert_value(&written, "pingback", PINGBACK);
    assert_value(&written, "method", SLICE_OF("post"));
    assert_value(&written, "file", all);
    assert_value(&written, "textinstructions", SLICE_OF("--\r\n\r\nkey=mine"));
    const struct param *file = params_find(&written.params, SLICE_OF("file"));
    assert_true(slice_equals(file->filename, SLICE_OF("cap___X-Evil__1_.._.._tcha.png")));
    close_written(&written);
    params_close(&source);
}

static void a_file_name_is_kept_short_and_never_empty(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'n', sizeof(name));
    memcpy(name + sizeof(name) - 4, ".jpg", 4);
    struct params source;
    params_init(&source, 4096);
    add(&source, SLICE_OF("method"), SLICE_OF("post"), SLICE_NONE);
    add(&source, SLICE_OF("file"), SLICE_OF("1"),
        (struct slice){.data = name, .len = sizeof(name)});
    add(&source, SLICE_OF("imginstructions"), SLICE_OF("2"), SLICE_OF(""));
    struct written written;
    write_and_read_back(&source, SLICE_NONE, &written);
    assert_int_equal(written.params.count, 5);
    const struct slice kept = params_find(&written.params, SLICE_OF("file"))->filename;
    assert_int_equal(kept.len, 64);
    assert_memory_equal(kept.data + 60, ".jpg", 4);
    const struct slice empty = params_find(&written.params, SLICE_OF("imginstructions"))->filename;
    assert_true(slice_equals(empty, SLICE_OF("file")));
    close_written(&written);
    params_close(&source);
}

static void a_hostile_name_cannot_end_its_header(void **state)
{
    (void)state;
    char bytes[256];
    fill_all_bytes(bytes);
    for (size_t start = 0; start < sizeof(bytes); start += 16) {
        struct params source;
        params_init(&source, 4096);
        add(&source, (struct slice){.data = bytes + start, .len = 16}, SLICE_OF("v"), SLICE_NONE);
        add(&source, SLICE_OF("file"), SLICE_OF("f"), SLICE_OF("f.png"));
        struct written written;
        write_and_read_back(&source, SLICE_NONE, &written);
        assert_int_equal(written.params.count, 5); /* key, json, the name, file, method */
        assert_value(&written, "file", SLICE_OF("f"));
        close_written(&written);
        params_close(&source);
    }
}

static void content_that_holds_a_boundary_gets_another_one(void **state)
{
    (void)state;
    struct params source;
    params_init(&source, 65536);
    add(&source, SLICE_OF("file"), SLICE_OF("picture"), SLICE_OF("f.png"));
    struct written first;
    write_and_read_back(&source, SLICE_NONE, &first);
    const struct slice type = buf_slice(&first.content_type);
    const char *equals = memchr(type.data, '=', type.len);
    const struct slice boundary = {.data = equals + 1,
                                   .len = type.len - (size_t)(equals + 1 - type.data)};
    assert_int_equal(boundary.len, 32);
    /* The boundary of one body inside the next is just content there. */
    struct buf trap;
    buf_init(&trap, 4096);
    buf_add(&trap, SLICE_OF("\r\n--"));
    buf_add(&trap, boundary);
    buf_add(&trap, SLICE_OF("\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nmine\r\n--"));
    buf_add(&trap, boundary);
    buf_add(&trap, SLICE_OF("--\r\n"));
    source.items[0].value = buf_slice(&trap);
    struct written second;
    write_and_read_back(&source, SLICE_NONE, &second);
    assert_value(&second, "key", KEY);
    assert_value(&second, "file", buf_slice(&trap));
    assert_false(slice_equals(buf_slice(&second.content_type), type));
    buf_close(&trap);
    close_written(&first);
    close_written(&second);
    params_close(&source);
}

static void a_caller_can_never_set_what_is_ours(void **state)
{
    (void)state;
    static const char *const ours[] = {"key", "json", "pingback", "soft_id"};
    struct params source;
    params_init(&source, 4096);
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        add(&source, slice_from(ours[i]), SLICE_OF("theirs"), SLICE_NONE);
    add(&source, SLICE_OF("method"), SLICE_OF("turnstile"), SLICE_NONE);
    struct written written;
    write_and_read_back(&source, SLICE_NONE, &written);
    assert_int_equal(written.params.count, 3);
    assert_value(&written, "key", KEY);
    assert_value(&written, "json", SLICE_OF("1"));
    assert_value(&written, "method", SLICE_OF("turnstile"));
    close_written(&written);
    params_close(&source);
}

static void a_body_past_the_cap_is_an_error(void **state)
{
    (void)state;
    struct params source;
    params_init(&source, 4096);
    add(&source, SLICE_OF("body"), SLICE_OF("%%%%%%%%%%%%%%%%%%%%"), SLICE_NONE);
    struct blob *packed = params_pack(&source);
    struct buf body, type;
    buf_init(&body, 70);
    buf_init(&type, 256);
    assert_int_equal(vendor_write_submit(packed, KEY, SLICE_NONE, &body, &type), ERR_FULL);
    buf_close(&body);
    buf_close(&type);
    blob_unref(packed);
    params_close(&source);
}

static void a_query_names_its_action_and_task(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, 1024);
    vendor_write_query(KEY, QUERY_POLL, SLICE_OF("2122988149"), &body);
    buf_add_char(&body, '\0');
    assert_string_equal(body.data, "key=k%26y%3D1&action=get&id=2122988149&json=1");
    buf_reset(&body);
    vendor_write_query(KEY, QUERY_BALANCE, SLICE_NONE, &body);
    buf_add_char(&body, '\0');
    assert_string_equal(body.data, "key=k%26y%3D1&action=getbalance&json=1");
    buf_close(&body);
}

static void random_parameters_come_back_unchanged(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int round = 0; round < 300; round++) {
        char bytes[4][64];
        char names[4][8];
        struct params source;
        params_init(&source, 4096);
        for (size_t i = 0; i < 4; i++) {
            const size_t len = rand_below(&rand, 65);
            for (size_t j = 0; j < len; j++)
                bytes[i][j] = (char)rand_below(&rand, 256);
            names[i][0] = 'n';
            names[i][1] = (char)('0' + i);
            names[i][2] = '\0';
            const bool is_file = rand_below(&rand, 4) == 0;
            add(&source, slice_from(names[i]), (struct slice){.data = bytes[i], .len = len},
                is_file ? SLICE_OF("f.gif") : SLICE_NONE);
        }
        struct written written;
        write_and_read_back(&source, PINGBACK, &written);
        for (size_t i = 0; i < 4; i++)
            assert_value(&written, names[i], source.items[i].value);
        assert_value(&written, "key", KEY);
        close_written(&written);
        params_close(&source);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_carries_every_byte_and_nothing_more),
        cmocka_unit_test(every_byte_is_encoded_at_every_place_of_a_word),
        cmocka_unit_test(the_sitekey_goes_under_the_name_that_the_vendor_reads),
        cmocka_unit_test(each_single_byte_stays_within_its_field),
        cmocka_unit_test(a_file_makes_it_multipart),
        cmocka_unit_test(a_file_name_is_kept_short_and_never_empty),
        cmocka_unit_test(a_hostile_name_cannot_end_its_header),
        cmocka_unit_test(content_that_holds_a_boundary_gets_another_one),
        cmocka_unit_test(a_caller_can_never_set_what_is_ours),
        cmocka_unit_test(a_body_past_the_cap_is_an_error),
        cmocka_unit_test(a_query_names_its_action_and_task),
        cmocka_unit_test(random_parameters_come_back_unchanged),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
