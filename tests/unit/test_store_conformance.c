#include "store_conformance.h"
#include "store_kit.h"
#include "store_world.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CASES_MAX 1024
#define NAME_MAX_BYTES 160

static const struct store_case *const lists[] = {
    store_row_cases, store_batch_cases, store_clock_cases, store_driver_cases, store_whole_cases};

static const struct store_case *const shared_lists[] = {store_claim_cases, store_offer_cases,
                                                        store_node_cases,  store_beat_cases,
                                                        store_find_cases,  store_budget_cases};

static struct CMUnitTest tests[CASES_MAX];
static char names[CASES_MAX][NAME_MAX_BYTES];
static size_t count;

static const char *name_of(const struct store_kit *kit)
{
    return kit->name == NULL ? kit->driver->name : kit->name;
}

static void add(const struct store_kit *kit, const struct store_case *item)
{
    if (count == CASES_MAX) {
        (void)fprintf(stderr, "there are more than %d cases\n", CASES_MAX);
        abort();
    }
    (void)snprintf(names[count], NAME_MAX_BYTES, "%s: %s", name_of(kit), item->name);
    union {
        const struct store_kit *kit;
        void *state;
    } first = {.kit = kit};
    tests[count] = (struct CMUnitTest){.name = names[count],
                                       .test_func = item->run,
                                       .setup_func = world_set_up,
                                       .teardown_func = world_tear_down,
                                       .initial_state = first.state};
    count++;
}

static const char *missing(const struct store_kit *kit)
{
    return kit->missing == NULL ? NULL : kit->missing();
}

static int announce(void **state)
{
    for (const struct store_kit *const *kit = store_kits; *kit != NULL; kit++)
        if (missing(*kit) != NULL)
            (void)printf("# SKIP: %s is not tested: %s\n", name_of(*kit), missing(*kit));
    return seed_announce(state);
}

static void add_list(const struct store_kit *kit, const struct store_case *list)
{
    for (const struct store_case *item = list; item->name != NULL; item++)
        add(kit, item);
}

static void add_all(const struct store_kit *kit)
{
    if (missing(kit) != NULL)
        return;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (!kit->is_shared_only)
            add_list(kit, lists[i]);
    for (size_t i = 0; i < sizeof(shared_lists) / sizeof(shared_lists[0]); i++)
        if (kit->driver->sharing != NULL)
            add_list(kit, shared_lists[i]);
    if (kit->driver->sharing != NULL && kit->driver->sharing->adopt != NULL) {
        add_list(kit, store_adoption_cases);
        add_list(kit, store_fence_cases);
        add_list(kit, store_errand_cases);
        add_list(kit, store_letter_cases);
        add_list(kit, store_setback_cases);
    }
    if (kit->empty != NULL && !kit->is_shared_only)
        add_list(kit, store_lost_cases);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    /* "Redis: *claim*", for whoever works on a driver. */
    if (getenv("ONLY") != NULL)
        cmocka_set_test_filter(getenv("ONLY"));
    for (const struct store_kit *const *kit = store_kits; *kit != NULL; kit++)
        add_all(*kit);
    return _cmocka_run_group_tests("store conformance", tests, count, announce, NULL);
}
