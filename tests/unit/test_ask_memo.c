/* The memo of asks: only the very same bytes are known again, and nothing that was not kept. */
#include "base/rand.h"
#include "doors/ask_memo.h"
#include "doors/visit.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define KEY_HEADER SLICE_OF("Bearer 0123456789abcdef0123456789abcdef")
#define BODY SLICE_OF("{\"method\":\"turnstile\"}")

static struct ask_memo memo;

static struct http_request usual(void)
{
    return (struct http_request){
        .caller = 7,
        .authorization = KEY_HEADER,
        .content_type = SLICE_OF("application/json"),
        .prefer = SLICE_OF("wait=10"),
        .query = SLICE_OF("a=b"),
        .body = BODY,
    };
}

static bool is_known(const struct http_request *request)
{
    struct visit visit = {.dialect = &dialect_api, .verb = VERB_ASK};
    struct ask ask;
    if (!ask_memo_find(&memo, request, &visit, &ask))
        return false;
    blob_unref(ask.params);
    return true;
}

static void keep(const struct http_request *request, const struct ask *ask)
{
    struct visit visit = {
        .dialect = &dialect_api, .verb = VERB_ASK, .client = ask->client, .is_json = true};
    struct ask found;
    assert_false(ask_memo_find(&memo, request, &visit, &found));
    ask_memo_keep(&memo, &visit, ask);
}

static void keep_usual(void)
{
    const struct http_request request = usual();
    struct ask ask = {.caller = 7, .client = 3, .hold_ms = 10000, .params = blob_new(BODY)};
    keep(&request, &ask);
    blob_unref(ask.params);
}

static int open_memo(void **state)
{
    (void)state;
    ask_memo_init(&memo);
    return 0;
}

static int close_memo(void **state)
{
    (void)state;
    ask_memo_close(&memo);
    return 0;
}

static void the_same_bytes_ask_for_the_same_whoever_calls(void **state)
{
    (void)state;
    keep_usual();
    struct http_request request = usual();
    request.caller = 8;
    struct visit visit = {
        .dialect = &dialect_api, .verb = VERB_ASK, .x_request_id = "mine", .x_request_id_len = 4};
    struct ask ask;
    assert_true(ask_memo_find(&memo, &request, &visit, &ask));
    assert_int_equal(ask.caller, 8);
    assert_int_equal(ask.client, 3);
    assert_int_equal(ask.hold_ms, 10000);
    assert_true(slice_equals(blob_slice(ask.params), BODY));
    assert_int_equal(visit.client, 3);
    assert_true(visit.is_json);
    assert_false(visit.has_cors);
    assert_memory_equal(visit.x_request_id, "mine", 4);
    blob_unref(ask.params);
}

static void any_other_part_is_another_request(void **state)
{
    (void)state;
    keep_usual();
    struct http_request others[5];
    for (size_t i = 0; i < 5; i++)
        others[i] = usual();
    others[0].authorization = SLICE_OF("Bearer 0123456789abcdef0123456789abcdeF");
    others[1].content_type = SLICE_OF("application/jsoN");
    others[2].prefer = SLICE_OF("wait=11");
    others[3].query = SLICE_OF("a=c");
    others[4].body = SLICE_OF("{\"method\":\"turnstilE\"}");
    for (size_t i = 0; i < 5; i++)
        assert_false(is_known(&others[i]));
    const struct http_request same = usual();
    struct visit elsewhere[] = {{.dialect = &dialect_vendor, .verb = VERB_ASK},
                                {.dialect = &dialect_api, .verb = VERB_RECOGNISE}};
    struct ask ask;
    for (size_t i = 0; i < 2; i++)
        assert_false(ask_memo_find(&memo, &same, &elsewhere[i], &ask));
    assert_true(is_known(&same));
}

static void bytes_do_not_wander_from_part_to_part(void **state)
{
    (void)state;
    keep_usual();
    struct http_request request = usual();
    request.prefer = SLICE_OF("wait=10a");
    request.query = SLICE_OF("=b");
    assert_false(is_known(&request));
    request = usual();
    request.query = SLICE_OF("");
    assert_false(is_known(&request));
}

static void empty_is_not_absent(void **state)
{
    (void)state;
    struct http_request request = usual();
    request.prefer = SLICE_NONE;
    struct ask ask = {.params = blob_new(BODY)};
    keep(&request, &ask);
    blob_unref(ask.params);
    request.prefer = SLICE_OF("");
    assert_false(is_known(&request));
}

static void idempotency_keys_and_long_bodies_are_not_kept(void **state)
{
    (void)state;
    static char long_body[ASK_MEMO_BYTES];
    struct ask ask = {.params = blob_new(BODY)};
    struct http_request request = usual();
    request.idempotency_key = SLICE_OF("k");
    keep(&request, &ask);
    assert_false(is_known(&request));
    request = usual();
    request.body = (struct slice){.data = long_body, .len = sizeof(long_body)};
    keep(&request, &ask);
    assert_false(is_known(&request));
    request = usual();
    ask.has_idempotency = true; /* of the parameters */
    keep(&request, &ask);
    assert_false(is_known(&request));
    blob_unref(ask.params);
}

/* Many more requests than places, in random order: whatever is found is what was kept for it. */
static void places_are_shared_but_never_mixed_up(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < 20000; i++) {
        const uint32_t number = (uint32_t)rand_below(&rand, 4 * ASK_MEMO_PLACES);
        struct http_request request = usual();
        request.body = (struct slice){.data = (const char *)&number, .len = sizeof(number)};
        struct visit visit = {.dialect = &dialect_api, .verb = VERB_ASK};
        struct ask ask;
        if (ask_memo_find(&memo, &request, &visit, &ask)) {
            assert_int_equal(ask.hold_ms, number);
        } else {
            ask = (struct ask){.hold_ms = number, .params = blob_new(request.body)};
            ask_memo_keep(&memo, &visit, &ask);
        }
        blob_unref(ask.params);
    }
}

#define MEMO_TEST(name) cmocka_unit_test_setup_teardown(name, open_memo, close_memo)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        MEMO_TEST(the_same_bytes_ask_for_the_same_whoever_calls),
        MEMO_TEST(any_other_part_is_another_request),
        MEMO_TEST(bytes_do_not_wander_from_part_to_part),
        MEMO_TEST(empty_is_not_absent),
        MEMO_TEST(idempotency_keys_and_long_bodies_are_not_kept),
        MEMO_TEST(places_are_shared_but_never_mixed_up),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
