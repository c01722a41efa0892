/* The slab against a plain array of who lives where. */
#include "base/rand.h"
#include "base/slab.h"
#include "dies.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CAPACITY 50
#define HISTORY 400
#define STEPS 30000

struct item {
    uint64_t words[5];
};

/* The oracle: each id ever given out (the last HISTORY of them) and what was written under it. */
struct model {
    slab_id ids[HISTORY];
    uint64_t marks[HISTORY];
    bool is_live[HISTORY];
    uint32_t live;
    size_t given;
};

static void fill(struct item *item, uint64_t mark)
{
    for (size_t i = 0; i < 5; i++)
        item->words[i] = mark + i;
}

static void assert_filled(const struct item *item, uint64_t mark)
{
    assert_non_null(item);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(item->words[i], mark + i);
}

/* A line of the history that no living item needs. */
static size_t free_line(const struct model *model)
{
    size_t line = model->given % HISTORY;
    while (model->is_live[line])
        line = (line + 1) % HISTORY;
    return line;
}

static void alloc_one(struct slab *slab, struct model *model, struct rand *rand)
{
    static const struct item zero;
    slab_id id = 77;
    struct item *item = slab_alloc(slab, &id);
    if (model->live == CAPACITY) {
        assert_null(item);
        assert_int_equal(id, 0);
        return;
    }
    assert_non_null(item);
    assert_true(id != 0);
    assert_memory_equal(item, &zero, sizeof(zero));
    assert_true(slab_id_of(slab, item) == id);
    for (size_t line = 0; line < HISTORY; line++)
        assert_true(model->ids[line] != id);
    const size_t line = free_line(model);
    model->ids[line] = id;
    model->marks[line] = rand_u64(rand);
    model->is_live[line] = true;
    model->live++;
    model->given++;
    fill(item, model->marks[line]);
}

static void touch_one(struct slab *slab, struct model *model, struct rand *rand)
{
    const size_t line = (size_t)rand_below(rand, HISTORY);
    if (!model->is_live[line]) {
        assert_null(slab_get(slab, model->ids[line]));
        return;
    }
    assert_filled(slab_get(slab, model->ids[line]), model->marks[line]);
    if (rand_below(rand, 2) == 0)
        return;
    if (rand_below(rand, 2) == 0)
        slab_free(slab, model->ids[line]);
    else
        slab_free_item(slab, slab_get(slab, model->ids[line]));
    model->is_live[line] = false;
    model->live--;
}

static void compare(const struct slab *slab, const struct model *model)
{
    slab_check(slab);
    assert_int_equal(slab->used, model->live);
    uint32_t seen = 0;
    slab_id last = 0;
    for (slab_id id = slab_next(slab, 0); id != 0; id = slab_next(slab, id)) {
        assert_true(last == 0 || (uint32_t)last < (uint32_t)id);
        assert_non_null(slab_get(slab, id));
        last = id;
        seen++;
    }
    assert_int_equal(seen, model->live);
}

static void random_operations_agree_with_a_history(void **state)
{
    (void)state;
    static struct model model;
    struct slab slab;
    struct rand rand;
    rand_init(&rand, seed_value());
    slab_init(&slab, sizeof(struct item), CAPACITY);
    uint64_t bias = 0;
    for (int i = 0; i < STEPS; i++) {
        /* The odds wander, so that the slab is at times full and at times empty. */
        if (i % 500 == 0)
            bias = 2 + rand_below(&rand, 8);
        if (rand_below(&rand, 10) < bias)
            alloc_one(&slab, &model, &rand);
        else
            touch_one(&slab, &model, &rand);
        if (i % 50 == 0)
            compare(&slab, &model);
    }
    slab_close(&slab);
}

static void a_freed_id_stays_stale_when_its_place_is_used_again(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 8, 1);
    slab_id first = 0, second = 0;
    assert_non_null(slab_alloc(&slab, &first));
    slab_free(&slab, first);
    assert_null(slab_get(&slab, first));
    assert_non_null(slab_alloc(&slab, &second));
    assert_null(slab_get(&slab, first));
    assert_non_null(slab_get(&slab, second));
    assert_true(first != second);
    slab_close(&slab);
}

static void foreign_ids_name_nothing(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 8, 4);
    slab_id id = 0;
    assert_non_null(slab_alloc(&slab, &id));
    assert_null(slab_get(&slab, 0));
    assert_null(slab_get(&slab, 1));
    assert_null(slab_get(&slab, 3));
    assert_null(slab_get(&slab, 4));
    assert_null(slab_get(&slab, UINT64_MAX));
    assert_null(slab_get(&slab, UINT64_C(1) << 32 | 1));
    assert_null(slab_get(&slab, UINT64_C(1) << 32 | UINT32_MAX));
    slab_free(&slab, id);
    /* The even generation of a free place is no id either. */
    assert_null(slab_get(&slab, UINT64_C(2) << 32));
    for (int i = 0; i < 4; i++)
        assert_non_null(slab_alloc(&slab, &id));
    /* Right behind the last place, which the address sanitizer watches. */
    assert_null(slab_get(&slab, UINT64_C(1) << 32 | 4));
    slab_close(&slab);
}

static void generations_wrap_without_ever_making_id_zero(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 8, 1);
    slab_id id = 0;
    assert_non_null(slab_alloc(&slab, &id));
    slab_free(&slab, id);
    slab.generations[0] = UINT32_MAX - 1;
    assert_non_null(slab_alloc(&slab, &id));
    assert_int_equal(id, (uint64_t)UINT32_MAX << 32);
    slab_free(&slab, id);
    assert_non_null(slab_alloc(&slab, &id));
    assert_int_equal(id, UINT64_C(1) << 32);
    slab_check(&slab);
    slab_close(&slab);
}

static void iteration_goes_on_after_the_current_item_is_freed(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 8, 10);
    slab_id id = 0;
    for (int i = 0; i < 10; i++)
        assert_non_null(slab_alloc(&slab, &id));
    int seen = 0;
    for (id = slab_next(&slab, 0); id != 0; id = slab_next(&slab, id)) {
        slab_free(&slab, id);
        seen++;
    }
    assert_int_equal(seen, 10);
    assert_int_equal(slab.used, 0);
    slab_close(&slab);
}

static void a_search_looks_at_no_more_places_than_it_may(void **state)
{
    (void)state;
    struct slab slab;
    slab_id ids[1000];
    slab_init(&slab, 8, 1000);
    for (int i = 0; i < 1000; i++)
        assert_non_null(slab_alloc(&slab, &ids[i]));
    for (int i = 1; i < 999; i++)
        slab_free(&slab, ids[i]);
    uint32_t most = 100;
    slab_id id = slab_next_within(&slab, 0, &most);
    assert_int_equal(id, ids[0]);
    assert_int_equal(most, 99);
    /* Then it is the 100th place's turn, which is free, and so on to the last. */
    id = slab_next_within(&slab, id, &most);
    assert_null(slab_get(&slab, id));
    assert_int_equal(most, 0);
    int searches = 1;
    for (; slab_get(&slab, id) == NULL; searches++) {
        most = 100;
        id = slab_next_within(&slab, id, &most);
    }
    assert_int_equal(id, ids[999]);
    assert_int_equal(searches, 10);
    most = 100;
    assert_int_equal(slab_next_within(&slab, id, &most), 0);
    slab_free(&slab, id);
    slab_free(&slab, ids[0]);
    most = 2000;
    id = slab_next_within(&slab, 0, &most);
    assert_null(slab_get(&slab, id));
    assert_int_equal(slab_next_within(&slab, id, &most), 0);
    slab_close(&slab);
}

static void free_first(void *context)
{
    slab_free(context, UINT64_C(1) << 32);
}

static void free_first_item(void *context)
{
    struct slab *slab = context;
    slab_free_item(slab, slab->items);
}

static void free_what_is_no_item(void *context)
{
    struct slab *slab = context;
    slab_free_item(slab, slab->items + 1);
}

static void free_what_was_never_given_out(void *context)
{
    struct slab *slab = context;
    slab_free_item(slab, slab->items + 8);
}

static void freeing_twice_aborts(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 8, 4);
    slab_id id = 0;
    assert_non_null(slab_alloc(&slab, &id));
    assert_int_equal(id, UINT64_C(1) << 32);
    assert_false(dies(free_first, &slab));
    assert_false(dies(free_first_item, &slab));
    assert_true(dies(free_what_is_no_item, &slab));
    assert_true(dies(free_what_was_never_given_out, &slab));
    slab_free(&slab, id);
    assert_true(dies(free_first, &slab));
    assert_true(dies(free_first_item, &slab));
    slab_close(&slab);
}

static void init_with_a_size_that_overflows(void *context)
{
    slab_init(context, SIZE_MAX / 2, 3);
}

static void sizes_that_overflow_abort(void **state)
{
    (void)state;
    struct slab slab;
    assert_true(dies(init_with_a_size_that_overflows, &slab));
}

static void check(void *context)
{
    slab_check(context);
}

static void check_finds_broken_books(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 8, 4);
    slab_id ids[3];
    for (int i = 0; i < 3; i++)
        assert_non_null(slab_alloc(&slab, &ids[i]));
    slab_free(&slab, ids[0]);
    slab_free(&slab, ids[1]);
    assert_false(dies(check, &slab));
    slab.used++;
    assert_true(dies(check, &slab));
    slab.used--;
    slab.generations[2]++;
    assert_true(dies(check, &slab));
    slab.generations[2]--;
    slab.free_next[0] = 1;
    assert_true(dies(check, &slab));
    slab_close(&slab);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_a_history),
        cmocka_unit_test(a_freed_id_stays_stale_when_its_place_is_used_again),
        cmocka_unit_test(foreign_ids_name_nothing),
        cmocka_unit_test(generations_wrap_without_ever_making_id_zero),
        cmocka_unit_test(a_search_looks_at_no_more_places_than_it_may),
        cmocka_unit_test(iteration_goes_on_after_the_current_item_is_freed),
        cmocka_unit_test(freeing_twice_aborts),
        cmocka_unit_test(sizes_that_overflow_abort),
        cmocka_unit_test(check_finds_broken_books),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
