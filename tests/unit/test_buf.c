/* The growing buffer against a plain array with the same cap. */
#include "base/buf.h"
#include "base/rand.h"
#include "dies.h"
#include "seed.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define MOST_CAP 3000
#define STEPS 4000
#define ROUNDS 30

struct model {
    char bytes[MOST_CAP];
    size_t len;
    size_t cap;
    bool is_full;
};

static void model_add(struct model *model, struct slice bytes)
{
    if (bytes.len > model->cap - model->len) {
        model->is_full = true;
        return;
    }
    if (bytes.len > 0)
        memcpy(model->bytes + model->len, bytes.data, bytes.len);
    model->len += bytes.len;
}

static void compare(const struct buf *buf, const struct model *model)
{
    buf_check(buf);
    assert_int_equal(buf->len, model->len);
    assert_int_equal(buf->is_full, model->is_full);
    assert_true(slice_equals(buf_slice(buf), (struct slice){model->bytes, model->len}));
}

/* Fills less than it reserved, as a read from a socket does. */
static void reserve_and_commit(struct buf *buf, struct model *model, struct rand *rand)
{
    const size_t extra = (size_t)rand_below(rand, 400);
    const size_t filled = (size_t)rand_below(rand, extra + 1);
    char *place = buf_reserve(buf, extra);
    if (place == NULL) {
        assert_true(extra > model->cap - model->len);
        model->is_full = true;
        return;
    }
    static char bytes[400];
    memset(bytes, (char)rand_below(rand, 256), filled);
    memcpy(place, bytes, filled);
    buf_commit(buf, filled);
    model_add(model, (struct slice){.data = bytes, .len = filled});
}

static void write_something(struct buf *buf, struct model *model, struct rand *rand)
{
    char bytes[300];
    const uint64_t number = rand_u64(rand) >> rand_below(rand, 64);
    size_t len = 0;
    switch (rand_below(rand, 4)) {
    case 0:
        len = (size_t)rand_below(rand, sizeof(bytes));
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)rand_u64(rand);
        buf_add(buf, (struct slice){.data = bytes, .len = len});
        break;
    case 1:
        bytes[0] = (char)number;
        len = 1;
        buf_add_char(buf, bytes[0]);
        break;
    case 2:
        len = (size_t)snprintf(bytes, sizeof(bytes), "%" PRIu64, number);
        buf_add_u64(buf, number);
        break;
    case 3: {
        const int width = (int)rand_below(rand, 200);
        len = (size_t)snprintf(bytes, sizeof(bytes), "<%*" PRIu64 ">", width, number);
        buf_addf(buf, "<%*" PRIu64 ">", width, number);
        break;
    }
    }
    model_add(model, (struct slice){.data = bytes, .len = len});
}

static void step(struct buf *buf, struct model *model, struct rand *rand)
{
    const uint64_t dice = rand_below(rand, 100);
    if (dice < 70) {
        write_something(buf, model, rand);
    } else if (dice < 85) {
        reserve_and_commit(buf, model, rand);
    } else if (dice < 98) {
        const size_t count = (size_t)rand_below(rand, model->len + 1);
        buf_consume(buf, count);
        model->len -= count;
        memmove(model->bytes, model->bytes + count, model->len);
    } else if (dice < 99) {
        buf_reset(buf);
        model->len = 0;
        model->is_full = false;
    } else {
        buf_close(buf);
        buf_init(buf, model->cap);
        model->len = 0;
        model->is_full = false;
    }
}

static void random_operations_agree_with_an_array(void **state)
{
    (void)state;
    static struct model model;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int round = 0; round < ROUNDS; round++) {
        model = (struct model){.cap = (size_t)rand_below(&rand, MOST_CAP + 1)};
        struct buf buf;
        buf_init(&buf, model.cap);
        for (int i = 0; i < STEPS / 10; i++) {
            step(&buf, &model, &rand);
            compare(&buf, &model);
        }
        buf_close(&buf);
    }
}

static void nothing_is_allocated_before_the_first_write(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_add(&buf, SLICE_NONE);
    buf_consume(&buf, 0);
    buf_reset(&buf);
    assert_null(buf.data);
    assert_true(slice_is_given(buf_slice(&buf)));
    assert_int_equal(buf_slice(&buf).len, 0);
}

static void a_write_past_the_cap_is_dropped_whole_and_remembered(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 10);
    buf_add(&buf, SLICE_OF("12345678"));
    buf_add(&buf, SLICE_OF("abc"));
    assert_true(buf.is_full);
    assert_true(slice_equals(buf_slice(&buf), SLICE_OF("12345678")));
    buf_addf(&buf, "%d", 123);
    buf_add_u64(&buf, 456);
    assert_null(buf_reserve(&buf, 3));
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_int_equal(buf.len, 8);
    buf_consume(&buf, 8);
    assert_true(buf.is_full);
    buf_reset(&buf);
    assert_false(buf.is_full);
    buf_close(&buf);
}

static void formatting_up_to_the_very_cap_fits(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 10);
    buf_addf(&buf, "%s", "0123456789");
    assert_false(buf.is_full);
    assert_true(slice_equals(buf_slice(&buf), SLICE_OF("0123456789")));
    buf_reset(&buf);
    buf_addf(&buf, "%s", "01234");
    buf_addf(&buf, "%s", "56789");
    assert_true(slice_equals(buf_slice(&buf), SLICE_OF("0123456789")));
    buf_addf(&buf, "%s", "");
    assert_false(buf.is_full);
    buf_addf(&buf, "%c", 'x');
    assert_true(buf.is_full);
    assert_true(slice_equals(buf_slice(&buf), SLICE_OF("0123456789")));
    buf_close(&buf);
}

static void numbers_are_written_to_their_limits(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_add_u64(&buf, 0);
    buf_add_char(&buf, ' ');
    buf_add_u64(&buf, UINT64_MAX);
    assert_true(slice_equals(buf_slice(&buf), SLICE_OF("0 18446744073709551615")));
    buf_close(&buf);
}

static void growth_doubles_and_stops_at_the_cap(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100000);
    size_t growths = 0;
    for (size_t i = 0; i < 100000; i++) {
        const size_t room = buf.room;
        const size_t foretold = buf_room_with(&buf, 1);
        buf_add_char(&buf, 'x');
        assert_int_equal(buf.room, foretold);
        growths += buf.room != room ? 1 : 0;
    }
    assert_int_equal(buf.len, 100000);
    assert_int_equal(buf.room, 100000);
    assert_true(growths <= 12);
    /* What would go past the cap is dropped, and takes nothing. */
    assert_int_equal(buf_room_with(&buf, 1), 100000);
    buf_close(&buf);
}

static void commit_too_much(void *context)
{
    struct buf *buf = context;
    buf_commit(buf, buf->room - buf->len + 1);
}

static void consume_too_much(void *context)
{
    struct buf *buf = context;
    buf_consume(buf, buf->len + 1);
}

static void check(void *context)
{
    buf_check(context);
}

static void misuse_aborts(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_add_char(&buf, 'x');
    assert_true(dies(commit_too_much, &buf));
    assert_true(dies(consume_too_much, &buf));
    assert_false(dies(check, &buf));
    buf.len = buf.room + 1;
    assert_true(dies(check, &buf));
    buf_close(&buf);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_an_array),
        cmocka_unit_test(nothing_is_allocated_before_the_first_write),
        cmocka_unit_test(a_write_past_the_cap_is_dropped_whole_and_remembered),
        cmocka_unit_test(formatting_up_to_the_very_cap_fits),
        cmocka_unit_test(numbers_are_written_to_their_limits),
        cmocka_unit_test(growth_doubles_and_stops_at_the_cap),
        cmocka_unit_test(misuse_aborts),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
