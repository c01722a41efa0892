#include "doors/routes.h"

#include "doors/door_api.h"
#include "doors/door_dashboard.h"
#include "doors/door_flight.h"
#include "doors/door_letters.h"
#include "doors/door_metrics.h"
#include "doors/door_nodes.h"
#include "doors/door_ops.h"
#include "doors/door_pingback.h"
#include "doors/door_series.h"
#include "doors/door_stats.h"
#include "doors/door_task.h"
#include "doors/door_vendor.h"
#include "doors/foreign.h"
#include "doors/reply.h"
#include "doors/verbs.h"
#include "sys/log.h"

/* Hexadecimal digits of 64 bits. */
#define OWN_ID_LEN 16

const struct route routes[] = {
    {"/res.php", HTTP_METHOD_GET, ROUTE_CLIENT, &dialect_vendor, door_res},
    {"/res.php", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_vendor, door_res},
    {"/in.php", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_vendor, door_in},
    {"/in.php", HTTP_METHOD_GET, ROUTE_CLIENT, &dialect_vendor, door_in},
    {"/solve.php", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_vendor, door_recognise},
    {"/pingback/{nonce}", HTTP_METHOD_GET, ROUTE_OPEN, &dialect_vendor, door_pingback},
    {"/pingback/{nonce}", HTTP_METHOD_POST, ROUTE_OPEN, &dialect_vendor, door_pingback},
    {"/getTaskResult", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_task_result},
    {"/createTask", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_create_task},
    {"/getBalance", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_balance},
    {"/reportCorrect", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_report_correct},
    {"/reportIncorrect", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_report_incorrect},
    {"/reportCorrectRecaptcha", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_report_correct},
    {"/reportIncorrectRecaptcha", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task,
     door_report_incorrect},
    {"/reportIncorrectImageCaptcha", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task,
     door_report_incorrect},
    {"/reportIncorrectHcaptcha", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task,
     door_report_incorrect},
    {"/getQueueStats", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_queue_stats},
    {"/getAppStats", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_no_such_method},
    {"/pushAntiGateVariable", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_no_such_method},
    {"/test", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_task, door_no_such_method},
    {"/v1/solves", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_api, door_solve},
    {"/v1/solves/{id}", HTTP_METHOD_GET, ROUTE_CLIENT, &dialect_api, door_state},
    {"/v1/solves/{id}", HTTP_METHOD_DELETE, ROUTE_CLIENT, &dialect_api, door_detach},
    {"/v1/solves/{id}/report", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_api, door_report},
    {"/v1/explain", HTTP_METHOD_POST, ROUTE_CLIENT, &dialect_api, door_explain},
    {"/v1/stats", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_stats},
    {"/v1/series", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_series},
    {"/v1/flights", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_flights},
    {"/v1/flights/{key}", HTTP_METHOD_GET, ROUTE_CLIENT, &dialect_api, door_flight},
    {"/v1/pools", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_pools},
    {"/v1/nodes", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_nodes},
    {"/v1/letters", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_letters},
    {"/v1/letters", HTTP_METHOD_DELETE, ROUTE_ADMIN, &dialect_api, door_letter_drop},
    {"/v1/letters/{id}", HTTP_METHOD_GET, ROUTE_ADMIN, &dialect_api, door_letter},
    {"/v1/letters/{id}", HTTP_METHOD_DELETE, ROUTE_ADMIN, &dialect_api, door_letter_drop},
    {"/v1/letters/{id}/replay", HTTP_METHOD_POST, ROUTE_ADMIN, &dialect_api, door_replay},
    {"/v1/letters/replay", HTTP_METHOD_POST, ROUTE_ADMIN, &dialect_api, door_replay},
    {"/v1/letters/replay", HTTP_METHOD_DELETE, ROUTE_ADMIN, &dialect_api, door_replay_cancel},
    {"/metrics", HTTP_METHOD_GET, ROUTE_NEAR, &dialect_api, door_metrics},
    {"/livez", HTTP_METHOD_GET, ROUTE_OPEN, &dialect_api, door_livez},
    {"/readyz", HTTP_METHOD_GET, ROUTE_OPEN, &dialect_api, door_readyz},
    {"/openapi.json", HTTP_METHOD_GET, ROUTE_OPEN, &dialect_api, door_openapi},
    {"/", HTTP_METHOD_GET, ROUTE_OPEN, &dialect_api, door_dashboard},
    {NULL, HTTP_METHOD_OTHER, ROUTE_OPEN, NULL, NULL},
};

static const char *method_name(enum http_method method)
{
    switch (method) {
    case HTTP_METHOD_GET:
        return "GET";
    case HTTP_METHOD_HEAD:
        return "HEAD";
    case HTTP_METHOD_POST:
        return "POST";
    case HTTP_METHOD_PUT:
        return "PUT";
    case HTTP_METHOD_DELETE:
        return "DELETE";
    case HTTP_METHOD_OPTIONS:
        return "OPTIONS";
    case HTTP_METHOD_OTHER:
        return "OTHER";
    }
    return "OTHER";
}

/* ---- matching ---------------------------------------------------------------------------- */

/* {id} matches a number; {nonce} matches anything, since its door gives the same answer to
 * everything that is not a valid nonce, and so does {key}, whose door says what a key is. */
static bool part_matches(const char *pattern, struct slice part, uint64_t *number)
{
    unsigned long long value = 0;
    if (strncmp(pattern, "{id}", 4) != 0)
        return true;
    if (!slice_to_u64(part, &value))
        return false;
    *number = value;
    return true;
}

static bool path_matches(const char *pattern, struct slice path, uint64_t *number)
{
    const char *at = path.data;
    const char *const end = path.data + path.len;
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (at == end || *at++ != *pattern++)
                return false;
            continue;
        }
        const char *const start = at;
        while (at < end && *at != '/')
            at++;
        if (!part_matches(pattern, (struct slice){.data = start, .len = (size_t)(at - start)},
                          number))
            return false;
        pattern = strchr(pattern, '}') + 1;
    }
    return at == end;
}

/* HEAD is allowed for lookups only: a submit whose id nobody can read would be paid for nothing. */
static bool takes_head(const struct route *route)
{
    return route->method == HTTP_METHOD_GET && route->handle != door_in;
}

static bool method_matches(const struct route *route, enum http_method method)
{
    return route->method == method || (method == HTTP_METHOD_HEAD && takes_head(route));
}

/* ---- what no door answers ---------------------------------------------------------------- */

static void add_allow(struct gate *gate, struct slice path)
{
    uint64_t number;
    buf_add(&gate->headers, SLICE_OF("Allow: OPTIONS"));
    for (const struct route *route = routes; route->pattern != NULL; route++) {
        if (!path_matches(route->pattern, path, &number))
            continue;
        buf_add(&gate->headers, SLICE_OF(", "));
        buf_add(&gate->headers, slice_from(method_name(route->method)));
        if (takes_head(route))
            buf_add(&gate->headers, SLICE_OF(", HEAD"));
    }
    buf_add(&gate->headers, SLICE_OF("\r\n"));
}

static bool is_known(struct slice path)
{
    uint64_t number;
    const struct route *route = routes;
    while (route->pattern != NULL && !path_matches(route->pattern, path, &number))
        route++;
    return route->pattern != NULL;
}

static void reply_no_route(struct gate *gate, const struct http_request *request,
                           const struct visit *visit)
{
    const struct problem unknown_path = {
        .status = 404,
        .code = "unknown_path",
        .detail = SLICE_OF("no such path; /openapi.json lists those that exist")};
    const struct problem wrong_method = {
        .status = 405,
        .code = "wrong_method",
        .detail = SLICE_OF("this path does not take this method; see the Allow header")};
    if (!is_known(request->path)) {
        reply_problem(gate, request->caller, visit, &unknown_path);
        return;
    }
    add_allow(gate, request->path);
    if (request->method == HTTP_METHOD_OPTIONS)
        reply_text(gate, request->caller, 204, SLICE_NONE);
    else
        reply_problem(gate, request->caller, visit, &wrong_method);
}

/* ---- dispatch ---------------------------------------------------------------------------- */

/* Keeps the caller's own id if it is short and harmless; else makes one. */
static void take_request_id(struct gate *gate, const struct http_request *request,
                            struct visit *visit)
{
    const struct slice given = request->x_request_id;
    bool is_usable = given.len > 0 && given.len <= X_REQUEST_ID_MAX;
    for (size_t i = 0; is_usable && i < given.len; i++)
        is_usable = given.data[i] > 0x20 && given.data[i] < 0x7f;
    if (is_usable) {
        memcpy(visit->x_request_id, given.data, given.len);
        visit->x_request_id_len = (uint8_t)given.len;
        return;
    }
    uint64_t random = gate_entropy(gate);
    for (size_t i = 0; i < OWN_ID_LEN; i++, random >>= 4)
        visit->x_request_id[i] = "0123456789abcdef"[random & 15];
    visit->x_request_id_len = OWN_ID_LEN;
}

/* A unix socket counts as local, like loopback. */
static bool is_near(struct slice peer)
{
    return slice_equals(peer, SLICE_OF("unix")) || slice_starts_with(peer, SLICE_OF("127.")) ||
           slice_equals(peer, SLICE_OF("::1"));
}

/* A web page in a browser on this machine is local, too, but must not read our figures. */
static bool needs_admin(const struct route *route, const struct http_request *request)
{
    return route->access == ROUTE_ADMIN ||
           (route->access == ROUTE_NEAR && (!is_near(request->peer) || foreign_is(request)));
}

/* Logs the pattern instead of the path, which may hold a nonce, and nothing of the query. */
static void tell(const struct http_request *request, const struct visit *visit, const char *pattern)
{
    if (log_is_on(LOG_LEVEL_DEBUG))
        LOG(LOG_LEVEL_DEBUG, "http_request", log_string("method", method_name(request->method)),
            log_string("path", pattern), log_text("peer", request->peer),
            log_text("request_id",
                     (struct slice){.data = visit->x_request_id, .len = visit->x_request_id_len}));
}

void routes_dispatch(struct gate *gate, const struct http_request *request)
{
    struct visit visit = {.dialect = &dialect_api};
    uint64_t number = 0;
    for (const struct route *route = routes; route->pattern != NULL; route++) {
        if (!method_matches(route, request->method) ||
            !path_matches(route->pattern, request->path, &number))
            continue;
        visit.dialect = route->dialect;
        if (route->dialect->has_request_id)
            take_request_id(gate, request, &visit);
        tell(request, &visit, route->pattern);
        if (route->access != ROUTE_OPEN && !foreign_may_enter(gate, request)) {
            foreign_refuse(gate, request, &visit);
            return;
        }
        if (needs_admin(route, request) && !verb_enter(gate, request, &visit, SCOPE_ADMIN))
            return;
        route->handle(gate, request, &visit, number);
        return;
    }
    take_request_id(gate, request, &visit);
    tell(request, &visit, "unknown");
    reply_no_route(gate, request, &visit);
}

/* Only paths for clients have a dialect; the vendor ignores the text of our reply to a callback. */
static const struct dialect *dialect_of(struct slice path)
{
    uint64_t number;
    for (const struct route *route = routes; route->pattern != NULL; route++)
        if (route->access == ROUTE_CLIENT && path_matches(route->pattern, path, &number))
            return route->dialect;
    return &dialect_api;
}

bool routes_refuse(struct gate *gate, const struct http_request *request, uint16_t status,
                   struct http_reply *reply)
{
    const struct dialect *dialect = dialect_of(request->path);
    if (dialect->refuse == NULL)
        return false;
    dialect->refuse(gate, request, status, reply);
    return true;
}

void routes_print(struct buf *out)
{
    for (const struct route *route = routes; route->pattern != NULL; route++)
        buf_addf(out, "%s %s\n", method_name(route->method), route->pattern);
}
