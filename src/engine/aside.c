#include "engine/aside.h"

struct aside *aside_of(struct engine *engine, struct flight *flight)
{
    if (flight->aside != NULL)
        return flight->aside;
    slab_id id;
    struct aside *aside = slab_alloc(&engine->asides, &id);
    /* There is a place for each flight. */
    ASSERT(aside != NULL);
    aside->id = id;
    aside->flight = flight;
    /* Of a restored flight nobody knows what it was asked for, so that it takes whatever there is. */
    aside->max_age_ms = UINT32_MAX;
    list_init(&aside->letters);
    list_init(&aside->briefs);
    list_init(&aside->tell);
    list_init(&aside->unleased);
    list_init(&aside->unit);
    flight->aside = aside;
    return aside;
}

void aside_free(struct engine *engine, struct flight *flight)
{
    struct aside *aside = flight->aside;
    if (aside == NULL)
        return;
    ASSERT(list_is_empty(&aside->letters));
    ASSERT(list_is_empty(&aside->briefs));
    list_unlink(&aside->tell);
    list_unlink(&aside->unleased);
    list_unlink(&aside->unit);
    slab_free(&engine->asides, aside->id);
    flight->aside = NULL;
}
