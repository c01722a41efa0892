/* Cases of drivers that can adopt: letters of all nodes are read and ordered about, whoever has them. */
#include "store/store_fact.h"
#include "store/store_letters.h"
#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CODE "ERROR_CAPTCHA_UNSOLVABLE"
#define BYTES 3000

static void put_letter(struct node *node, uint64_t number, client_id client, enum error_class class,
                       enum type type)
{
    struct record record = world_record(node->world, RECORD_LETTER, number);
    char bytes[BYTES];
    memset(bytes, '"', sizeof bytes);
    blob_unref(record.letter.params);
    blob_unref(record.letter.error);
    blob_unref(record.letter.text);
    record.letter.params = blob_new((struct slice){.data = bytes, .len = sizeof bytes});
    record.letter.text = blob_new(SLICE_OF("{\"text\":1,\"task\":2}"));
    record.letter.error =
        blob_new(class == CLASS_BUSY ? SLICE_OF("ERROR_NO_SLOT_AVAILABLE") : SLICE_OF(CODE));
    record.letter.client = client;
    record.letter.class = class;
    record.letter.type = type;
    node_put(node, &record);
}

static void put(struct node *node, uint64_t number)
{
    put_letter(node, number, 0, CLASS_UNSOLVABLE, TYPE_IMAGE);
}

static struct store_letter_query page_of(uint32_t limit, uint64_t cursor)
{
    return (struct store_letter_query){
        .order = {.verb = LETTER_LIST,
                  .filter = {.class = CLASS_COUNT, .type = TYPE_COUNT},
                  .limit = limit,
                  .cursor = cursor}};
}

/* As the reader's thread does it. */
static struct store_letters_job *read_with(struct store_backend *reader,
                                           const struct store_letter_query *query)
{
    struct store_letters_job *const job = store_letters_job_new(query);
    while (!store_letters_job_step(job, reader)) {}
    return job;
}

static struct store_letters_job *read_by(const struct node *node,
                                         const struct store_letter_query *query)
{
    struct store_backend *const reader = node->backend->driver->sharing->make_pulse(node->backend);
    struct store_letters_job *const job = read_with(reader, query);
    assert_false(store_letters_job_end(job)->is_away);
    reader->driver->close(reader);
    return job;
}

/* The numbers on a page, "of" all that match, "then" the next cursor, as text. */
static void expect_page(const struct node *node, const struct store_letter_query *query,
                        const char *expected)
{
    char text[512] = "";
    size_t len = 0;
    struct store_letters_job *const job = read_by(node, query);
    const struct store_letters *const letters = store_letters_job_end(job);
    for (uint32_t i = 0; i < letters->count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%llu@%u ",
                                (unsigned long long)letters->all[i].record.letter.number,
                                letters->all[i].node);
    (void)snprintf(text + len, sizeof text - len, "of %llu then %llu",
                   (unsigned long long)letters->total, (unsigned long long)letters->next);
    assert_string_equal(text, expected);
    store_letters_job_free(job);
}

static void all_letters_are_listed_at_any_node(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct store_letter_query query = page_of(10, 0);
    expect_page(&a, &query, "of 0 then 0");
    put(&a, 1025);
    put(&a, 3073);
    node_send(&a);
    put(&b, 2050);
    node_send(&b);
    expect_page(&a, &query, "3073@1 2050@2 1025@1 of 3 then 0");
    expect_page(&b, &query, "3073@1 2050@2 1025@1 of 3 then 0");
    query = page_of(2, 0);
    expect_page(&b, &query, "3073@1 2050@2 of 3 then 2050");
    query = page_of(2, 2050);
    expect_page(&b, &query, "1025@1 of 3 then 0");
    const struct record gone = {.kind = RECORD_LETTER, .letter = {.number = 3073}};
    node_drop(&a, &gone);
    node_send(&a);
    query = page_of(1, 0);
    expect_page(&b, &query, "2050@2 of 2 then 2050");
    node_close(&a);
    node_close(&b);
}

static void a_filter_selects_from_all_of_them(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    /* More than one question brings. */
    for (uint64_t i = 1; i <= 100; i++)
        put_letter(&a, 512 * i + 1, (client_id)(i % 2), CLASS_UNSOLVABLE, TYPE_IMAGE);
    node_send(&a);
    put_letter(&b, 2, 0, CLASS_BUSY, TYPE_TURNSTILE);
    put_letter(&b, 514, 1, CLASS_BUSY, TYPE_IMAGE);
    node_send(&b);
    struct store_letter_query query = page_of(1, 0);
    query.order.filter.class = CLASS_BUSY;
    expect_page(&a, &query, "514@2 of 2 then 514");
    query.order.cursor = 514;
    expect_page(&a, &query, "2@2 of 2 then 0");
    query = page_of(5, 0);
    query.order.filter.type = TYPE_TURNSTILE;
    expect_page(&a, &query, "2@2 of 1 then 0");
    query = page_of(2, 1026);
    (void)snprintf(query.order.filter.code, sizeof query.order.filter.code, CODE);
    expect_page(&b, &query, "1025@1 513@1 of 100 then 0");
    query = page_of(2, 0);
    (void)snprintf(query.client, sizeof query.client, "%s", "beta");
    expect_page(&b, &query, "50689@1 49665@1 of 51 then 49665");
    query = page_of(2, 0);
    (void)snprintf(query.client, sizeof query.client, "nobody");
    expect_page(&b, &query, "of 0 then 0");
    node_close(&a);
    node_close(&b);
}

static void one_letter_is_read_with_everything_a_list_without(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put(&a, 1025);
    node_send(&a);
    struct store_letter_query query = page_of(1, 0);
    struct store_letters_job *job = read_by(&b, &query);
    const struct letter_row *row = &store_letters_job_end(job)->all[0].record.letter;
    assert_true(row->params == NULL || row->params->len == 0);
    assert_true(row->text == NULL || row->text->len == 0);
    assert_string_equal(row->error->data, CODE);
    store_letters_job_free(job);
    query.order.filter.number = 1025;
    job = read_by(&b, &query);
    const struct store_letters *letters = store_letters_job_end(job);
    assert_int_equal(letters->count, 1);
    row = &letters->all[0].record.letter;
    assert_int_equal(row->params->len, BYTES);
    assert_string_equal(row->text->data, "{\"text\":1,\"task\":2}");
    assert_string_equal(letters->all[0].client, "alpha");
    assert_int_equal(letters->all[0].node, a.backend->node);
    store_letters_job_free(job);
    query.order.filter.number = 1026;
    job = read_by(&b, &query);
    assert_int_equal(store_letters_job_end(job)->count, 0);
    store_letters_job_free(job);
    node_close(&a);
    node_close(&b);
}

/* ---- orders ------------------------------------------------------------------------------ */

static void order(struct node *node, uint64_t number, uint64_t letter, uint16_t to)
{
    const struct fact fact = {
        .number = number,
        .kind = FACT_ERRAND,
        .result.text = blob_new(SLICE_OF("ann")),
        .errand = {.verb = ERRAND_LETTERS, .from = node->backend->node, .to = to, .id = letter},
        .letters = {.verb = LETTER_DROP,
                    .filter = {.number = letter, .class = CLASS_COUNT, .type = TYPE_COUNT}}};
    node_tell(node, &fact);
    node_send(node);
}

static void on_fact(void *context, const struct fact *take_fact)
{
    struct fact fact = *take_fact;
    assert_int_equal(fact.errand.verb, ERRAND_LETTERS);
    assert_int_equal(fact.letters.verb, LETTER_DROP);
    assert_int_equal(fact.letters.filter.number, fact.errand.id);
    ++*(unsigned *)context;
    fact_close(&fact);
}

static unsigned mail_of(const struct node *node)
{
    unsigned count = 0;
    const struct store_sharing *const sharing = node->backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(node->backend);
    assert_int_equal(sharing->pulse_inbox(pulse, 8, on_fact, &count), STORE_DONE);
    node->backend->driver->close(pulse);
    return count;
}

static void an_order_goes_to_whoever_has_the_letter(void **state)
{
    struct node a, b, c;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    put(&a, 1025);
    node_send(&a);
    order(&b, 1001, 1025, c.backend->node);
    assert_int_equal(mail_of(&a), 1);
    assert_int_equal(mail_of(&b) + mail_of(&c), 0);
    node_close(&a);
    node_close(&b);
    node_close(&c);
}

/* The number of a letter may be that of a request. */
static void a_request_of_the_same_number_has_nothing_to_do_with_it(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct record request = world_record(b.world, RECORD_REQUEST, 1025);
    node_put(&b, &request);
    node_send(&b);
    put(&a, 1025);
    node_send(&a);
    order(&b, 1001, 1025, a.backend->node);
    assert_int_equal(mail_of(&a), 1);
    assert_int_equal(mail_of(&b), 0);
    node_close(&a);
    node_close(&b);
}

static void an_order_about_many_goes_to_the_node_that_is_named(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    order(&b, 1001, 0, a.backend->node);
    /* Nobody has this one. */
    order(&b, 1002, 77, a.backend->node);
    assert_int_equal(mail_of(&a), 2);
    assert_int_equal(mail_of(&b), 0);
    node_close(&a);
    node_close(&b);
}

const struct store_case store_letter_cases[] = {
    STORE_CASE(all_letters_are_listed_at_any_node),
    STORE_CASE(a_filter_selects_from_all_of_them),
    STORE_CASE(one_letter_is_read_with_everything_a_list_without),
    STORE_CASE(an_order_goes_to_whoever_has_the_letter),
    STORE_CASE(a_request_of_the_same_number_has_nothing_to_do_with_it),
    STORE_CASE(an_order_about_many_goes_to_the_node_that_is_named),
    {NULL, NULL},
};
