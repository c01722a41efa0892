#include "sim/control.h"

#include "base/assert.h"
#include "sim/fault_json.h"
#include "sim/ledger.h"
#include "sim/text.h"

static void refuse(struct http_reply *reply, int status, struct slice allow)
{
    reply->status = status;
    reply->headers = allow;
    buf_addf(reply->body, "{\"error\":\"%s\"}\n",
             status == 405   ? "method not allowed"
             : status == 404 ? "no such path"
                             : "id is a number");
}

static void put_faults(struct vendor *vendor, const struct http_request *request,
                       struct http_reply *reply)
{
    struct buf problem;

    buf_init(&problem, 4096);
    if (fault_json_read(&vendor->faults, request->body, &problem) != 0) {
        reply->status = 422;
        buf_add(reply->body, SLICE_OF("{\"error\":"));
        text_add_json(reply->body, buf_slice(&problem));
        buf_add(reply->body, SLICE_OF("}\n"));
    } else {
        fault_json_add(reply->body, &vendor->faults);
    }
    buf_close(&problem);
}

/* Ends the task with that id, or all tasks in flight, at once, so that a test need not wait. */
static void solve_now(struct vendor *vendor, struct http_reply *reply)
{
    const struct slice id = params_get(&vendor->params, SLICE_OF("id"));
    const struct slice error = params_get(&vendor->params, SLICE_OF("error"));
    unsigned long long only = 0;
    unsigned long long count = 0;

    if (id.len > 0 && !slice_to_u64(id, &only)) {
        refuse(reply, 422, SLICE_NONE);
        return;
    }
    LIST_FOR_EACH_SAFE(node, &vendor->tasks.solving) {
        struct task *task = CONTAINER_OF(node, struct task, link);
        if (id.len > 0 && task->number != only)
            continue;
        if (error.len > 0)
            task->error = text_intern(error);
        vendor_settle(vendor, task);
        count++;
    }
    buf_addf(reply->body, "{\"settled\":%llu}\n", count);
}

static void serve_command(struct vendor *vendor, const struct http_request *request,
                          struct http_reply *reply)
{
    if (!slice_equals(slice_from(request->method), SLICE_OF("POST"))) {
        refuse(reply, 405, SLICE_OF("Allow: POST\r\n"));
    } else if (slice_equals(request->path, SLICE_OF("/sim/solve"))) {
        solve_now(vendor, reply);
    } else {
        vendor_reset(vendor);
        buf_add(reply->body, SLICE_OF("{\"reset\":true}\n"));
    }
}

void control_serve(struct vendor *vendor, const struct http_request *request,
                   struct http_reply *reply)
{
    const struct slice method = slice_from(request->method);
    const bool is_get = slice_equals(method, SLICE_OF("GET"));
    const bool is_put = slice_equals(method, SLICE_OF("PUT"));

    reply->content_type = "application/json";
    if (slice_equals(request->path, SLICE_OF("/sim/faults"))) {
        if (is_get)
            fault_json_add(reply->body, &vendor->faults);
        else if (is_put)
            put_faults(vendor, request, reply);
        else
            refuse(reply, 405, SLICE_OF("Allow: GET, PUT\r\n"));
    } else if (slice_equals(request->path, SLICE_OF("/sim/ledger"))) {
        if (is_get)
            ledger_add(reply->body, vendor, &vendor->params);
        else
            refuse(reply, 405, SLICE_OF("Allow: GET\r\n"));
    } else if (slice_equals(request->path, SLICE_OF("/sim/reset")) ||
               slice_equals(request->path, SLICE_OF("/sim/solve"))) {
        serve_command(vendor, request, reply);
    } else {
        refuse(reply, 404, SLICE_NONE);
    }
}
