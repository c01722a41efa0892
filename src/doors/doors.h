/* The doors: handlers of requests. */
#ifndef SOLVEGATE_DOORS_DOORS_H
#define SOLVEGATE_DOORS_DOORS_H

#include "doors/visit.h"
#include "gate/gate_state.h"

/* For gate_run. */
extern const struct gate_doors doors;

/* number is the number in the path, if the route has one. */
typedef void (*door_fn)(struct gate *gate, const struct http_request *request, struct visit *visit,
                        uint64_t number);

/* the vendor's dialect: /in.php, /solve.php, /res.php */
void door_in(struct gate *gate, const struct http_request *request, struct visit *visit, uint64_t);
void door_recognise(struct gate *gate, const struct http_request *request, struct visit *visit,
                    uint64_t);
void door_res(struct gate *gate, const struct http_request *request, struct visit *visit, uint64_t);

/* JSON API */
void door_solve(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t);
void door_state(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t id);
void door_detach(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t id);
void door_report(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t id);
void door_explain(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t);

/* callbacks of the vendor */
void door_pingback(struct gate *gate, const struct http_request *request, struct visit *visit,
                   uint64_t);
/* Answers a callback: it is durable, or the vendor must call again. */
void door_pingback_end(struct gate *gate, caller_id caller, bool is_kept);

/* for the operator */
void door_stats(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t);
void door_flights(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t);
void door_pools(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t);
void door_letters(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t);
void door_letter(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number);
void door_replay(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number);
void door_replay_cancel(struct gate *gate, const struct http_request *request, struct visit *visit,
                        uint64_t);
void door_letter_drop(struct gate *gate, const struct http_request *request, struct visit *visit,
                      uint64_t number);
void door_letters_answer(struct gate *gate, const struct visit *visit,
                         const struct letters_answer *answer);
void door_metrics(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t);
void door_livez(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t);
void door_readyz(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t);
void door_openapi(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t);
void door_dashboard(struct gate *gate, const struct http_request *request, struct visit *visit,
                    uint64_t);

#endif
