/* The doors: handlers of requests, and how each answer of the engine is said there. */
#ifndef SOLVEGATE_DOORS_DOORS_H
#define SOLVEGATE_DOORS_DOORS_H

#include "gate/gate_state.h"

/* Handlers get the number in the path, where the route has one. */
typedef void (*door_fn)(struct gate *gate, const struct http_request *request, struct visit *visit,
                        uint64_t number);

/* dialect: /in.php, /solve.php, /res.php */
void door_in(struct gate *gate, const struct http_request *request, struct visit *visit, uint64_t);
void door_recognise(struct gate *gate, const struct http_request *request, struct visit *visit,
                    uint64_t);
void door_res(struct gate *gate, const struct http_request *request, struct visit *visit, uint64_t);
/* Words for what HTTP refused, in a reply that lives until the next request. */
void door_dialect_refuse(struct gate *gate, const struct http_request *request, uint16_t status,
                         struct http_reply *reply);
void door_dialect_answer(struct gate *gate, const struct visit *visit, const struct answer *answer);
void door_dialect_account(struct gate *gate, const struct visit *visit,
                          const struct account_answer *answer);

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
/* Reads the parameters and demands scope admin; answers by itself when it is missing. */
bool door_admit(struct gate *gate, const struct http_request *request, struct visit *visit);
void door_api_answer(struct gate *gate, const struct visit *visit, const struct answer *answer);

/* callbacks of the vendor */
void door_pingback(struct gate *gate, const struct http_request *request, struct visit *visit,
                   uint64_t);
void door_pingback_ack(struct gate *gate, caller_id caller);
void door_pingback_refuse(struct gate *gate, caller_id caller);

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
