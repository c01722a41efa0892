/* Facts of the inbox as text. */
#include "store/store_fact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_fact_is_the_same_after_writing_and_reading(void **state)
{
    static const struct vendor_result results[] = {
        {.outcome = OUTCOME_PENDING, .task_id = "123"},
        {.outcome = OUTCOME_FAILED,
         .class = CLASS_TRANSIENT,
         .code = "ERR\"\xff",
         .is_short = true},
        {.outcome = OUTCOME_UNDELIVERABLE, .retry_after_ms = 5000},
    };
    struct buf body;
    (void)state;
    buf_init(&body, 4096);
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        const struct fact fact = {.result = results[i]};
        struct fact again = {.result.attempt = 7};
        const struct vendor_result *const read = &again.result;
        buf_reset(&body);
        fact_add_body(&body, &fact);
        assert_true(fact_read_body(buf_slice(&body), &again));
        assert_int_equal(again.kind, FACT_NEWS);
        assert_int_equal(read->attempt, 7);
        assert_int_equal(read->outcome, results[i].outcome);
        assert_int_equal(read->class, results[i].class);
        assert_string_equal(read->code, results[i].code);
        assert_string_equal(read->task_id, results[i].task_id);
        assert_int_equal(read->is_short, results[i].is_short);
        assert_int_equal(read->retry_after_ms, results[i].retry_after_ms);
    }
    struct fact none = {.number = 7};
    assert_false(fact_read_body(SLICE_OF("{\"outcome\":\"unknown\",\"class\":\"none\"}"), &none));
    assert_false(fact_read_body(SLICE_OF("nonsense"), &none));
    assert_false(fact_read_body(SLICE_OF("{\"kind\":\"hearsay\"}"), &none));
    assert_false(fact_read_body(SLICE_OF("{\"kind\":\"errand\",\"verb\":\"pay\"}"), &none));
    assert_false(fact_read_body(SLICE_OF("{\"kind\":\"bad\",\"key\":\"00\"}"), &none));
    buf_close(&body);
}

static void so_is_what_nodes_tell_each_other(void **state)
{
    static const struct errand errand = {.verb = ERRAND_DETACH,
                                         .from = 511,
                                         .to = 2,
                                         .id = REQUEST_ID_LIMIT - 1,
                                         .caller = UINT64_MAX,
                                         .ticket = UINT64_MAX - 1,
                                         .refusal = REFUSAL_NOT_SOLVED};
    const struct fact facts[] = {
        {.kind = FACT_ERRAND, .errand = errand},
        {.kind = FACT_REPLY, .errand = errand},
        {.kind = FACT_BAD, .bad = {.key = key_from_u64(77), .attempt = UINT64_MAX}}};
    struct buf body;
    (void)state;
    buf_init(&body, 4096);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        struct fact read = {.number = 0};
        buf_reset(&body);
        fact_add_body(&body, &facts[i]);
        assert_true(fact_read_body(buf_slice(&body), &read));
        assert_int_equal(read.kind, facts[i].kind);
        assert_int_equal(read.errand.verb, facts[i].errand.verb);
        assert_int_equal(read.errand.from, facts[i].errand.from);
        assert_int_equal(read.errand.to, facts[i].errand.to);
        assert_int_equal(read.errand.id, facts[i].errand.id);
        assert_int_equal(read.errand.caller, facts[i].errand.caller);
        assert_int_equal(read.errand.ticket, facts[i].errand.ticket);
        assert_int_equal(read.errand.refusal, facts[i].errand.refusal);
        assert_true(key_equals(&read.bad.key, &facts[i].bad.key));
        assert_int_equal(read.bad.attempt, facts[i].bad.attempt);
    }
    buf_close(&body);
}

static void so_are_questions_about_a_key(void **state)
{
    struct fact fact = {.kind = FACT_ERRAND, .errand = {.verb = ERRAND_SHOW, .to = 2, .ticket = 9}};
    struct fact read = {.number = 0};
    struct buf body;
    (void)state;
    fact.show.prefix = (struct key_prefix){.key = key_from_u64(5), .digits = 12};
    fact.show.sees_all = true;
    buf_init(&body, 4096);
    fact_add_body(&body, &fact);
    assert_true(fact_read_body(buf_slice(&body), &read));
    assert_int_equal(read.errand.verb, ERRAND_SHOW);
    assert_true(key_equals(&read.show.prefix.key, &fact.show.prefix.key));
    assert_int_equal(read.show.prefix.digits, 12);
    assert_true(read.show.sees_all);
    buf_reset(&body);
    /* More digits than a key has. */
    fact.show.prefix.digits = 65;
    fact_add_body(&body, &fact);
    assert_false(fact_read_body(buf_slice(&body), &read));
    buf_close(&body);
}

static void so_are_orders_about_letters(void **state)
{
    struct fact facts[] = {
        {.kind = FACT_ERRAND,
         .errand = {.verb = ERRAND_LETTERS, .id = 77, .to = 2},
         .letters = {.verb = LETTER_REPLAY,
                     .filter = {.number = 77, .class = CLASS_COUNT, .type = TYPE_COUNT},
                     .has_into = true,
                     .into_key = key_from_u64(5)}},
        {.kind = FACT_ERRAND,
         .errand = {.verb = ERRAND_LETTERS},
         .letters = {.verb = LETTER_DROP,
                     .filter = {.has_client = true,
                                .class = CLASS_NONE,
                                .type = TYPE_IMAGE,
                                .code = "E\"",
                                .until_wall_ms = 1704110400000}}},
        {.kind = FACT_REPLY,
         .errand = {.verb = ERRAND_LETTERS, .refusal = REFUSAL_STORE_AWAY, .count = 9}},
        {.kind = FACT_REPLY, .errand = {.verb = ERRAND_LETTERS, .refusal = REFUSAL_FULL_REQUESTS}},
    };
    struct buf body;
    (void)state;
    buf_init(&body, 4096);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        struct fact read = {.number = 0};
        const struct letter_order *const order = &facts[i].letters;
        buf_reset(&body);
        fact_add_body(&body, &facts[i]);
        assert_true(fact_read_body(buf_slice(&body), &read));
        assert_int_equal(read.errand.verb, ERRAND_LETTERS);
        assert_int_equal(read.errand.refusal, facts[i].errand.refusal);
        assert_int_equal(read.errand.count, facts[i].errand.count);
        assert_int_equal(read.letters.verb, order->verb);
        assert_int_equal(read.letters.has_into, order->has_into);
        assert_true(key_equals(&read.letters.into_key, &order->into_key));
        assert_int_equal(read.letters.filter.number, order->filter.number);
        assert_int_equal(read.letters.filter.has_client, order->filter.has_client);
        assert_int_equal(read.letters.filter.class, order->filter.class);
        assert_int_equal(read.letters.filter.type, order->filter.type);
        assert_string_equal(read.letters.filter.code, order->filter.code);
        assert_int_equal(read.letters.filter.until_wall_ms, order->filter.until_wall_ms);
    }
    assert_int_equal((int64_t)fact_subject(&facts[0]), -77);
    assert_int_equal(fact_subject(&facts[1]), 0);
    assert_int_equal(fact_subject(&facts[2]), 0);
    /* What cannot be understood must not become an order about all. */
    struct fact none = {.number = 7};
#define LETTERS "{\"kind\":\"errand\",\"verb\":\"letters\",\"end\":\"done\""
    assert_true(fact_read_body(SLICE_OF(LETTERS ",\"order\":\"drop\"}"), &none));
    assert_int_equal(none.letters.filter.class, CLASS_COUNT);
    assert_false(fact_read_body(SLICE_OF(LETTERS "}"), &none));
    assert_false(fact_read_body(SLICE_OF(LETTERS ",\"order\":\"list\"}"), &none));
    assert_false(fact_read_body(SLICE_OF(LETTERS ",\"order\":\"drop\",\"class\":\"odd\"}"), &none));
    assert_false(fact_read_body(SLICE_OF(LETTERS ",\"order\":\"drop\",\"type\":7}"), &none));
    assert_false(fact_read_body(SLICE_OF(LETTERS ",\"order\":\"drop\",\"code\":\"xyz\"}"), &none));
    assert_false(fact_read_body(SLICE_OF(LETTERS ",\"order\":\"replay\",\"into\":\"00\"}"), &none));
#undef LETTERS
    buf_close(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fact_is_the_same_after_writing_and_reading),
        cmocka_unit_test(so_is_what_nodes_tell_each_other),
        cmocka_unit_test(so_are_questions_about_a_key),
        cmocka_unit_test(so_are_orders_about_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
