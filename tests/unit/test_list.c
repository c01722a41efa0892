/* The intrusive list against arrays of numbers. */
#include "base/assert.h"
#include "base/list.h"
#include "base/rand.h"
#include "dies.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NODES 48
#define LISTS 2
#define STEPS 20000

struct thing {
    int number;
    struct list link;
};

/* The oracle: which numbers each list holds, in order. */
struct model {
    int numbers[LISTS][NODES];
    size_t lens[LISTS];
};

struct world {
    struct rand rand;
    struct list heads[LISTS];
    struct thing things[NODES];
    struct model model;
};

static void model_insert(struct model *model, size_t list, size_t at, int number)
{
    int *numbers = model->numbers[list];
    memmove(numbers + at + 1, numbers + at, (model->lens[list] - at) * sizeof(*numbers));
    numbers[at] = number;
    model->lens[list]++;
}

static bool model_remove(struct model *model, int number)
{
    for (size_t list = 0; list < LISTS; list++) {
        int *numbers = model->numbers[list];
        for (size_t at = 0; at < model->lens[list]; at++) {
            if (numbers[at] != number)
                continue;
            model->lens[list]--;
            memmove(numbers + at, numbers + at + 1, (model->lens[list] - at) * sizeof(*numbers));
            return true;
        }
    }
    return false;
}

static void compare(struct world *world)
{
    for (size_t list = 0; list < LISTS; list++) {
        struct list *head = &world->heads[list];
        const size_t len = world->model.lens[list];
        list_check(head, len);
        assert_int_equal(list_length(head), len);
        assert_int_equal(list_is_empty(head), len == 0);
        assert_true((list_first(head) == NULL) == (len == 0));
        size_t at = 0;
        LIST_FOR_EACH(node, head) {
            const struct thing *thing = CONTAINER_OF(node, struct thing, link);
            assert_int_equal(thing->number, world->model.numbers[list][at]);
            at++;
        }
    }
}

static void splice_both(struct world *world, size_t list)
{
    struct model *model = &world->model;
    const size_t from = 1 - list;
    list_splice(&world->heads[list], &world->heads[from]);
    memcpy(model->numbers[list] + model->lens[list], model->numbers[from],
           model->lens[from] * sizeof(int));
    model->lens[list] += model->lens[from];
    model->lens[from] = 0;
}

static void insert_somewhere(struct world *world, size_t list, struct thing *thing)
{
    const size_t len = world->model.lens[list];
    const size_t at = (size_t)rand_below(&world->rand, len + 1);
    struct list *head = &world->heads[list];
    if (at == len)
        list_append(head, &thing->link);
    else if (at == 0)
        list_prepend(head, &thing->link);
    else
        list_insert_before(&world->things[world->model.numbers[list][at]].link, &thing->link);
    model_insert(&world->model, list, at, thing->number);
}

static void step(struct world *world)
{
    struct thing *thing = &world->things[rand_below(&world->rand, NODES)];
    const size_t list = (size_t)rand_below(&world->rand, LISTS);
    if (rand_below(&world->rand, 40) == 0) {
        splice_both(world, list);
        return;
    }
    const bool was_member = model_remove(&world->model, thing->number);
    assert_int_equal(was_member, !list_is_empty(&thing->link));
    list_unlink(&thing->link);
    assert_true(list_is_empty(&thing->link));
    if (rand_below(&world->rand, 3) != 0)
        insert_somewhere(world, list, thing);
}

static void random_operations_agree_with_arrays(void **state)
{
    (void)state;
    static struct world world;
    rand_init(&world.rand, seed_value());
    for (size_t list = 0; list < LISTS; list++)
        list_init(&world.heads[list]);
    for (int number = 0; number < NODES; number++) {
        world.things[number].number = number;
        list_init(&world.things[number].link);
    }
    for (int i = 0; i < STEPS; i++) {
        step(&world);
        compare(&world);
    }
}

static void unlinking_an_idle_node_changes_nothing(void **state)
{
    (void)state;
    struct list head, node;
    list_init(&head);
    list_init(&node);
    list_append(&head, &node);
    list_unlink(&node);
    list_unlink(&node);
    assert_true(list_is_empty(&node));
    assert_true(list_is_empty(&head));
}

static void splicing_an_empty_list_changes_nothing(void **state)
{
    (void)state;
    struct list head, empty, node;
    list_init(&head);
    list_init(&empty);
    list_append(&head, &node);
    list_splice(&head, &empty);
    assert_int_equal(list_length(&head), 1);
    list_check(&head, 1);
    list_check(&empty, 0);
}

static void safe_iteration_survives_unlinking_every_node(void **state)
{
    (void)state;
    struct list head, nodes[5];
    list_init(&head);
    for (size_t i = 0; i < 5; i++)
        list_append(&head, &nodes[i]);
    size_t seen = 0;
    LIST_FOR_EACH_SAFE(node, &head) {
        assert_ptr_equal(node, &nodes[seen]);
        list_unlink(node);
        seen++;
    }
    assert_int_equal(seen, 5);
    assert_true(list_is_empty(&head));
}

static void check_three(void *context)
{
    list_check(context, 3);
}

static void check_finds_broken_links(void **state)
{
    (void)state;
    struct list head, nodes[3];
    list_init(&head);
    for (size_t i = 0; i < 3; i++)
        list_append(&head, &nodes[i]);
    assert_false(dies(check_three, &head));
    nodes[1].prev = &nodes[2];
    assert_true(dies(check_three, &head));
    nodes[1].prev = &nodes[0];
    nodes[2].next = &nodes[1];
    assert_true(dies(check_three, &head));
    nodes[2].next = NULL;
    assert_true(dies(check_three, &head));
}

static void check_finds_more_members_than_the_limit(void **state)
{
    (void)state;
    struct list head, nodes[4];
    list_init(&head);
    for (size_t i = 0; i < 4; i++)
        list_append(&head, &nodes[i]);
    assert_true(dies(check_three, &head));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_arrays),
        cmocka_unit_test(unlinking_an_idle_node_changes_nothing),
        cmocka_unit_test(splicing_an_empty_list_changes_nothing),
        cmocka_unit_test(safe_iteration_survives_unlinking_every_node),
        cmocka_unit_test(check_finds_broken_links),
        cmocka_unit_test(check_finds_more_members_than_the_limit),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
