/* The state of a request that is kept until its reply. */
#ifndef SOLVEGATE_DOORS_VISIT_H
#define SOLVEGATE_DOORS_VISIT_H

#include "doors/dialect.h"
#include "http/http.h"

#define X_REQUEST_ID_MAX 48

struct gate;

/* Stored in the exchange's note, so that every answer of the engine finds it by its caller. */
struct visit {
    const struct dialect *dialect;
    enum verb verb;
    client_id client;
    bool is_json;
    bool has_cors;
    bool wants_price;
    bool is_held;      /* the caller waits for the solution itself */
    uint8_t id_layout; /* of a createTask: the layout of its solution */
    uint8_t queue;     /* of a getQueueStats: the type of its queue */
    uint32_t task_id;  /* in the body of a createTask client; 0: none */
    uint8_t x_request_id_len;
    char x_request_id[X_REQUEST_ID_MAX];
};

/* Loads the visit of an exchange that still waits for its reply; false if the exchange is gone. */
bool visit_load(struct gate *gate, caller_id caller, struct visit *visit);
void visit_store(const struct http_request *request, const struct visit *visit);

#endif
