#include "control.h"

#include "fault_json.h"
#include "ledger.h"
#include "text.h"

static void refuse(struct http_reply *reply, int status, struct slice allow)
{
    reply->status = status;
    reply->headers = allow;
    buf_addf(reply->body, "{\"error\":\"%s\"}\n",
             status == 405 ? "method not allowed" : "no such path");
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

void control_serve(struct vendor *vendor, const struct http_request *request,
                   struct http_reply *reply)
{
    const struct slice method = slice_from(request->method);
    const bool is_get = slice_equals(method, SLICE_OF("GET"));
    const bool is_put = slice_equals(method, SLICE_OF("PUT"));
    const bool is_post = slice_equals(method, SLICE_OF("POST"));

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
    } else if (slice_equals(request->path, SLICE_OF("/sim/reset"))) {
        if (is_post) {
            vendor_reset(vendor);
            buf_add(reply->body, SLICE_OF("{\"reset\":true}\n"));
        } else {
            refuse(reply, 405, SLICE_OF("Allow: POST\r\n"));
        }
    } else {
        refuse(reply, 404, SLICE_NONE);
    }
}
