/* Every path that exists, what it takes and who may use it. */
#ifndef SOLVEGATE_DOORS_ROUTES_H
#define SOLVEGATE_DOORS_ROUTES_H

#include "doors/doors.h"

enum route_access {
    ROUTE_OPEN,   /* nobody needs a key */
    ROUTE_CLIENT, /* the door looks at the key; without clients nothing foreign gets in */
    ROUTE_NEAR,   /* from this machine; from elsewhere it needs scope admin */
    ROUTE_ADMIN,  /* needs scope admin where clients are configured */
};

struct route {
    const char *pattern; /* "{id}" stands for decimal digits */
    enum http_method method;
    enum route_access access;
    const struct dialect *dialect; /* in whose words mistakes are said */
    door_fn handle;
};

/* Ends with a NULL pattern. */
extern const struct route routes[];

/* Finds the route and lets its door answer: 404 for an unknown path, 405 with Allow for a wrong method. */
void routes_dispatch(struct gate *gate, const struct http_request *request);

/* The words for a request that HTTP itself refuses; false where its path has none of its own. */
bool routes_refuse(struct gate *gate, const struct http_request *request, uint16_t status,
                   struct http_reply *reply);

/* One "METHOD /path" a line, for the test that compares them with the OpenAPI document. */
void routes_print(struct buf *out);

#endif
