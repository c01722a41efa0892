/* Requests: asked, placed, held, answered exactly once, readable for a while, forgotten. */
#ifndef SOLVEGATE_ENGINE_REQUEST_H
#define SOLVEGATE_ENGINE_REQUEST_H

#include "engine/state.h"

/* How long a solution that nobody asked for stays readable, expired or not: a solve may take longer than its
 * solution is sure to live, and whoever paid for it by waiting must still find it at the next poll or retry. */
#define SOLUTION_KEEP_MS 30000

/* Final states; each held caller is answered now. The source must be set before. */
void request_solved(struct engine *engine, struct request *request, struct solution *solution);
void request_failed(struct engine *engine, struct request *request, enum error_class class,
                    struct blob *error, uint32_t retry_after_ms);

/* Leaves its flight without an answer (its caller gave up) and is forgotten. */
void request_detach(struct engine *engine, struct request *request);

/* The same while its flight ends, which goes on without it. */
void request_drop(struct engine *engine, struct request *request);

/* Forgets a request in whatever state; a flight it leaves alone is abandoned. */
void request_free(struct engine *engine, struct request *request);

/* The request of a row, waiting for nothing yet, or NULL when there is no room or it is known. */
struct request *request_restore(struct engine *engine, const struct request_row *row);

/* Its caller learns its id, so that it must survive a crash. */
void request_journal(struct engine *engine, struct request *request);

struct request *request_find(const struct engine *engine, client_id client, request_id id);

/* A new request for this ask; there must be room (finished.h). */
struct request *request_new(struct engine *engine, const struct ask *ask);

/* Makes it wait for the flight's end. */
void request_join(struct request *request, struct engine *engine, struct flight *flight,
                  enum source source);

/* Holds the caller until the request is final or hold_ms passed; answers at once when it is final
 * already, when hold_ms is 0, or when no more callers can be held. */
void request_hold(struct engine *engine, struct request *request, caller_id caller,
                  uint32_t hold_ms);

/* The state as it is, and the record it must wait for. The blobs are referenced. */
journal_seq request_fill(const struct engine *engine, const struct request *request,
                         struct answer *answer);

/* There is nothing left to tell its caller's own address. */
void request_drop_pingback(struct engine *engine, struct request *request);

/* A final one was told to somebody: from now on it stays until its solution expires, or until others need its place. */
void request_mark_read(struct engine *engine, struct request *request);
/* The same when its caller's own address heard of it, or never will. */
void request_on_told(struct engine *engine, struct request *request, bool is_heard);

/* One answer with the request's state as it is. */
void request_answer(struct engine *engine, struct request *request, caller_id caller);
/* The same to a caller who only learns the id from it (in.php): a final state stays unread. */
void request_tell(struct engine *engine, struct request *request, caller_id caller);
void request_refuse(struct engine *engine, caller_id caller, enum refusal refusal,
                    struct slice code, uint32_t retry_after_ms);

void request_on_look(struct engine *engine, const struct look *look);
void request_on_gone(struct engine *engine, caller_id caller);
void request_on_detach(struct engine *engine, const struct detach *detach);
void request_on_report(struct engine *engine, const struct report *report);
void request_on_expiry(struct engine *engine, struct request *request);
void hold_on_timer(struct engine *engine, struct hold *hold);

#endif
