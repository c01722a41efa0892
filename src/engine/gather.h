/* What recovery gathers from rows: flights and solutions by their numbers, until all rows have come. */
#ifndef SOLVEGATE_ENGINE_GATHER_H
#define SOLVEGATE_ENGINE_GATHER_H

#include "engine/state.h"

/* A flight's row, and the flight made from it. */
struct restored_flight {
    uint64_t uid;
    struct flight *flight; /* NULL if it does not go on */
    bool is_merged;        /* that one was made from the row of another flight of the key */
    slab_id follower;      /* a flight of ours that waits for it, or 0 */
    uint32_t min_ttl_ms, max_age_ms; /* what those want who have come from there */
    bool has_idempotency;            /* it waited for what this idempotency key stands for */
    struct key idempotency;
    bool is_over;
    enum error_class class;
    char code[ERROR_CODE_MAX];
};

/* An index of solutions by one of their numbers, sorted on first use. */
struct solution_index {
    struct solution_entry {
        uint64_t number;
        struct solution *solution; /* borrowed */
    } *entries;                    /* owned */
    size_t count, room;
    bool is_sorted;
};

/* A flight of ours that waits for what an idempotency key stands for: a flight whose rows have become ours. */
struct repeat {
    slab_id flight;
    struct key digest;
};

struct recovery {
    struct restored_flight *flights; /* owned; sorted, as rows come in order of their uids */
    size_t flight_count, flight_room;
    struct solution_index by_uid, by_flight, by_attempt; /* by_uid owns a reference to each */
    bool is_adoption, is_complete;
    struct repeat *repeats; /* owned */
    size_t repeat_count, repeat_room;
    size_t settled, repeated, reunited, resumed; /* of an adoption: how far it has come */
};

/* The engine's recovery, begun if there is none. */
struct recovery *recovery_of(struct engine *engine);

/* Frees the rows gathered by engine_restore; engine_restored calls it too. */
void recovery_free(struct engine *engine);

/* Appends a row's flight; rows come in the order of their numbers. */
struct restored_flight *gather_flight(struct recovery *recovery);
void gather_repeat(struct recovery *recovery, slab_id flight, const struct key *digest);
struct restored_flight *find_flight_row(const struct recovery *recovery, uint64_t uid);

void index_add(struct recovery *recovery, struct solution_index *index, uint64_t number,
               struct solution *solution);
struct solution *index_find(struct solution_index *index, uint64_t number);

#endif
