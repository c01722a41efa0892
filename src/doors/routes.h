/* Every path, its method, and who may use it. */
#ifndef SOLVEGATE_DOORS_ROUTES_H
#define SOLVEGATE_DOORS_ROUTES_H

#include "doors/door.h"

enum route_access {
    ROUTE_OPEN,   /* needs no key */
    ROUTE_CLIENT, /* the door checks the key; without clients web pages are refused */
    ROUTE_NEAR,   /* open to this machine; needs scope admin from elsewhere */
    ROUTE_ADMIN,  /* needs scope admin if clients are configured */
};

struct route {
    const char *pattern; /* "{id}" stands for decimal digits */
    enum http_method method;
    enum route_access access;
    const struct dialect *dialect; /* the dialect of its errors */
    door_fn *handle;
};

/* Ends with a NULL pattern. */
extern const struct route routes[];

/* Finds the route and lets its door answer: 404 for an unknown path, 405 with Allow for a wrong method. */
void routes_dispatch(struct gate *gate, const struct http_request *request);

/* Writes the dialect's refusal of a request that HTTP itself refuses; false if its path has no
 * dialect. */
bool routes_refuse(struct gate *gate, const struct http_request *request, uint16_t status,
                   struct http_reply *reply);

/* Writes a line "METHOD /path" for each route, for the test that compares them with the OpenAPI
 * document. */
void routes_print(struct buf *out);

#endif
