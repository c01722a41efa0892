#include "engine/flight_table.h"

#include "engine/flight.h"

void flight_table_hide(struct engine *engine, struct flight *flight)
{
    flight->is_in_table = false;
    table_remove(&engine->flights_by_key, &flight->node);
    table_insert(&engine->flights_apart, &flight->node);
}

void flight_table_show(struct engine *engine, struct flight *flight)
{
    if (flight->is_in_table)
        return;
    flight->is_in_table = true;
    table_remove(&engine->flights_apart, &flight->node);
    table_insert(&engine->flights_by_key, &flight->node);
}

void flight_table_leave(struct engine *engine, struct flight *flight)
{
    if (flight->is_in_table)
        table_remove(&engine->flights_by_key, &flight->node);
    else if (flight->node.place != NULL)
        table_remove(&engine->flights_apart, &flight->node);
    flight->is_in_table = false;
}
