#include "doors/visit.h"

#include "gate/gate_state.h"

_Static_assert(sizeof(struct visit) <= sizeof(struct http_note), "a visit must fit into a note");

void visit_store(const struct http_request *request, const struct visit *visit)
{
    memcpy(request->note, visit, sizeof *visit);
}

bool visit_load(struct gate *gate, caller_id caller, struct visit *visit)
{
    const struct http_note *note = http_note_of(gate->server, caller);
    if (note == NULL)
        return false;
    memcpy(visit, note, sizeof *visit);
    return true;
}
