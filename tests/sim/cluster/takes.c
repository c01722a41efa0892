/* Single-use solutions that are offered: whoever takes one first has it. */
#include "cluster.h"

static bool is_bound(const struct store *store, uint64_t solution)
{
    for (size_t i = 0; i < store->row_count; i++) {
        const struct record *record = &store->rows[i].record;
        if (record->kind == RECORD_IDEMPOTENCY && record->idempotency.solution == solution)
            return true;
    }
    return false;
}

static bool is_offered(const struct row *row)
{
    const struct solution_row *solution = &row->record.solution;
    return row->record.kind == RECORD_SOLUTION && solution->flight == 0 && solution->is_kept &&
           !solution->is_shared && solution->handed == 0;
}

static void take(struct row *row, node_id node, const struct claim *claim, struct verdict *verdict)
{
    verdict->claimed.owner = row->owner == node ? 0 : (uint16_t)(row->owner % ENGINE_NODES);
    row->owner = node;
    row->record.solution.flight = claim->flight;
    row->record.solution.handed = 1;
    row->is_taken = true;
    store_give(verdict, CLAIM_TAKEN, &row->record.solution);
}

bool takes_decide_own(struct cluster *c, node_id node, const struct claim *claim,
                      struct verdict *verdict)
{
    struct store *store = &c->store;
    for (size_t i = 0; i < store->row_count && claim->may_take; i++) {
        struct row *row = &store->rows[i];
        const struct solution_row *solution = &row->record.solution;
        if (row->record.kind != RECORD_SOLUTION || row->owner != node)
            continue;
        /* The claim is sent again. */
        if (row->is_taken && solution->flight == claim->flight) {
            store_give(verdict, CLAIM_TAKEN, solution);
            return true;
        }
        if (solution->id == claim->solution && is_offered(row) && store_suits(c, claim, solution)) {
            take(row, node, claim, verdict);
            return true;
        }
    }
    return false;
}

bool takes_decide(struct cluster *c, node_id node, const struct claim *claim,
                  struct verdict *verdict)
{
    struct store *store = &c->store;
    struct row *best = NULL;
    for (size_t i = 0; i < store->row_count && claim->may_take; i++) {
        struct row *row = &store->rows[i];
        const struct solution_row *solution = &row->record.solution;
        if (!is_offered(row) || !key_equals(&solution->key, &claim->offered) ||
            !store_suits(c, claim, solution) || is_bound(store, solution->id))
            continue;
        if (best == NULL || solution->expires_wall_ms < best->record.solution.expires_wall_ms)
            best = row;
    }
    if (best != NULL)
        take(best, node, claim, verdict);
    return best != NULL;
}

bool takes_has_lost(struct store *store, node_id node, const struct claim *claim,
                    const struct verdict *verdict)
{
    const struct row *row = store_find_solution(store, claim->solution);
    const bool is_it = verdict->claimed.result == CLAIM_TAKEN && verdict->row.id == claim->solution;
    return claim->solution != 0 && !is_it &&
           (row == NULL || row->owner != node || !is_offered(row));
}
