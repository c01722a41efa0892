/* Requests: placed, held, answered exactly once, readable for a while, then forgotten. */
#ifndef SOLVEGATE_ENGINE_REQUEST_H
#define SOLVEGATE_ENGINE_REQUEST_H

#include "engine/state.h"

/* How long an unread solution stays readable even if it has expired: a solve may take longer than
 * its solution is sure to live, and the caller that waited for it must still find it at the next
 * poll or retry. */
#define SOLUTION_KEEP_MS 30000

/* Make a request final and answer each held caller now. The source must be set before. */
void request_solved(struct engine *engine, struct request *request, struct solution *solution);
void request_failed(struct engine *engine, struct request *request, enum error_class class,
                    struct blob *error, uint32_t retry_after_ms);

/* Removes a request whose caller gave up from its flight, and forgets it. */
void request_detach(struct engine *engine, struct request *request);

/* Removes a request while its flight ends; the flight is not abandoned. */
void request_drop(struct engine *engine, struct request *request);

/* Frees the request; returns the flight that has no requests any more, if any. */
struct flight *request_forget(struct engine *engine, struct request *request);

/* Forgets a request in any state; a flight without other requests is abandoned. */
void request_free(struct engine *engine, struct request *request);

/* Restores a request from its row, waiting for nothing yet; NULL when there is no room or its id is known. */
struct request *request_restore(struct engine *engine, const struct request_row *row);

/* Journals a request whose caller learns its id, so that it survives a crash. */
void request_journal(struct engine *engine, struct request *request);

struct request *request_find(const struct engine *engine, client_id client, request_id id);

/* Is this a number that some node may have given? */
static inline bool request_id_may_exist(request_id id)
{
    return id != 0 && id < REQUEST_ID_LIMIT;
}
/* Number of the node that gave this id, with a shared store; 0: it does not say. */
uint16_t request_node(request_id id);

/* Creates a request for this ask; there must be room (finished.h). */
struct request *request_new(struct engine *engine, const struct ask *ask);

/* Makes the request wait for the flight's end. */
void request_join(struct request *request, struct engine *engine, struct flight *flight,
                  enum source source);

/* Holds the caller until the request is final or hold_ms passed. Answers at once when the request
 * is final, when hold_ms is 0, or when no more callers can be held. */
void request_hold(struct engine *engine, struct request *request, caller_id caller,
                  uint32_t hold_ms);

/* Fills in the request's current state and returns the record it depends on. Takes references to the blobs. */
journal_seq request_fill(const struct engine *engine, const struct request *request,
                         struct answer *answer);

/* Drops the caller's `pingback=` address, which has nothing more to be told. */
void request_drop_pingback(struct engine *engine, struct request *request);

/* Marks a final request as read: it stays until its solution expires, or until others need its place. */
void request_mark_read(struct engine *engine, struct request *request);

/* Answers a caller with the request's current state. */
void request_answer(struct engine *engine, struct request *request, caller_id caller);
/* The same to a caller who said something about the request: with a shared store, once all of it is durable. */
void request_confirm(struct engine *engine, struct request *request, caller_id caller);
/* Answers a caller who only learns the id (in.php): a final state stays unread. */
void request_tell(struct engine *engine, struct request *request, caller_id caller);
void request_refuse(struct engine *engine, caller_id caller, enum refusal refusal,
                    struct slice code, uint32_t retry_after_ms);

#endif
