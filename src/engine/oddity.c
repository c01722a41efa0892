#include "engine/oddity.h"

#include "engine/letters.h"

/* Anyone who knows one nonce can call back endlessly, and each letter may displace a real one. A
 * doubled submit brings one solution too many; three leave room for cases nobody foresaw. */
#define LETTERS_EACH 3

/* As long as a nonce is accepted for an attempt that is no longer known. */
#define NAME_KEEP_MS 3600000

static void alert_other(struct engine *engine, const struct attempt *attempt)
{
    struct action *action = engine_push(engine, ACTION_ALERT);
    action->alert.kind = ALERT_OTHER_SOLUTION;
    action->alert.attempt = attempt->by_name.number;
}

void oddity_of_attempt(struct engine *engine, struct attempt *attempt,
                       const struct vendor_result *result)
{
    if (attempt->odd_letters >= LETTERS_EACH)
        return;
    attempt->odd_letters++;
    alert_other(engine, attempt);
    letter_of_solution(engine, attempt, result, CODE_OTHER_SOLUTION);
}

/* ---- attempts no longer known ------------------------------------------------------------ */

static void forget_old(struct engine *engine)
{
    struct odd_names *names = &engine->odd_names;
    while (names->count > 0 &&
           names->items[names->first].since_ms + NAME_KEEP_MS <= engine->now_ms) {
        names->first = (names->first + 1) % ODD_NAMES;
        names->count--;
    }
}

static struct odd_name *find(struct engine *engine, attempt_id name)
{
    struct odd_names *names = &engine->odd_names;
    for (uint32_t i = 0; i < names->count; i++) {
        struct odd_name *item = &names->items[(names->first + i) % ODD_NAMES];
        if (item->name == name)
            return item;
    }
    return NULL;
}

/* Returns NULL when too many unknown attempts were seen within the hour. */
static struct odd_name *remember(struct engine *engine, attempt_id name)
{
    struct odd_names *names = &engine->odd_names;
    if (names->count == ODD_NAMES)
        return NULL;
    struct odd_name *item = &names->items[(names->first + names->count++) % ODD_NAMES];
    *item = (struct odd_name){.name = name, .since_ms = engine->now_ms};
    return item;
}

void oddity_of_unknown(struct engine *engine, const struct vendor_result *result)
{
    forget_old(engine);
    struct odd_name *item = find(engine, result->attempt);
    if (item == NULL)
        item = remember(engine, result->attempt);
    if (item == NULL || item->letters >= LETTERS_EACH)
        return;
    item->letters++;
    letter_of_solution(engine, NULL, result, CODE_SOLUTION_WITHOUT_FLIGHT);
}

void oddity_check(const struct engine *engine)
{
    const struct odd_names *names = &engine->odd_names;
    ASSERT(names->first < ODD_NAMES && names->count <= ODD_NAMES);
    for (uint32_t i = 0; i < names->count; i++)
        ASSERT(names->items[(names->first + i) % ODD_NAMES].letters <= LETTERS_EACH);
    for (slab_id id = 0; (id = slab_next(&engine->attempts, id)) != 0;) {
        const struct attempt *attempt = slab_get(&engine->attempts, id);
        ASSERT(attempt->odd_letters <= LETTERS_EACH);
    }
}
