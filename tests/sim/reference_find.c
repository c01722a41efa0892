#include "reference.h"

#include <string.h>

uint32_t ref_flight_of_attempt(const struct reference *ref, attempt_id attempt)
{
    for (uint32_t i = 0; i < ref->flight_count; i++)
        if (ref->flights[i].is_live && ref->flights[i].attempt == attempt)
            return i;
    return MAP_NONE;
}

uint32_t ref_shared_flight(const struct reference *ref, uint32_t key)
{
    for (uint32_t i = 0; i < ref->flight_count; i++)
        if (ref->flights[i].is_live && ref->flights[i].key == key &&
            ref->flights[i].reuse == REUSE_SHARED)
            return i;
    return MAP_NONE;
}

static bool is_bound(const struct reference *ref, uint32_t flight)
{
    for (size_t i = 0; i < ref->bound_count; i++)
        if (ref->bound[i] == flight)
            return true;
    return false;
}

/* One for one that lost its caller at the vendor, and that no idempotency key finds. */
uint32_t ref_deserted_flight(struct reference *ref, uint32_t key)
{
    uint32_t found = MAP_NONE;
    for (uint32_t i = 0; i < ref->flight_count; i++) {
        const struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->key != key || flight->reuse != REUSE_SINGLE ||
            flight->requests > 0 || flight->attempt == 0 || is_bound(ref, i))
            continue;
        /* Of two either may be taken. */
        ref->is_lost |= found != MAP_NONE;
        found = i;
    }
    return found;
}

uint32_t ref_request_of_id(const struct reference *ref, request_id id)
{
    for (uint32_t i = 0; i < ref->request_count; i++)
        if (ref->requests[i].is_live && ref->requests[i].id == id)
            return i;
    return MAP_NONE;
}

size_t ref_holds_of(const struct reference *ref, uint32_t request)
{
    size_t count = 0;
    for (size_t i = 0; i < ref->hold_count; i++)
        count += ref->holds[i].request == request;
    return count;
}

uint32_t *ref_binding(struct reference *ref, uint64_t number)
{
    while (ref->bound_count < number) {
        ref->bound = array_grow(ref->bound, ref->bound_count, &ref->bound_room, sizeof *ref->bound);
        ref->bound[ref->bound_count++] = MAP_NONE;
    }
    return &ref->bound[number - 1];
}

uint64_t ref_number_in(const struct key *key)
{
    uint64_t number;
    memcpy(&number, key->bytes, sizeof number);
    return number;
}
