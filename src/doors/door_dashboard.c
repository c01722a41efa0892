/* The dashboard at /: a page without data, which asks the API for it with the operator's key. */
#include "doors/door_dashboard.h"

#include "doors/dashboard.h"
#include "doors/reply.h"

/* The page may load nothing from elsewhere, send nothing elsewhere, not be framed, and never turn
 * text into markup. */
static void add_policy(struct buf *headers)
{
    buf_add(headers, SLICE_OF("Content-Security-Policy: default-src 'none'; "));
    buf_add(headers, dashboard_policy());
    buf_add(
        headers,
        SLICE_OF("; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                 "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types\r\n"));
}

void door_dashboard(struct gate *gate, const struct http_request *request, struct visit *visit,
                    uint64_t number)
{
    (void)visit;
    (void)number;
    add_policy(&gate->headers);
    reply_header(gate, SLICE_OF("X-Frame-Options"), SLICE_OF("DENY"));
    reply_header(gate, SLICE_OF("X-Content-Type-Options"), SLICE_OF("nosniff"));
    reply_header(gate, SLICE_OF("Referrer-Policy"), SLICE_OF("no-referrer"));
    reply_header(gate, SLICE_OF("Cross-Origin-Resource-Policy"), SLICE_OF("same-origin"));
    reply_header(gate, SLICE_OF("Cache-Control"), SLICE_OF("no-store"));
    buf_add(&gate->body, dashboard());
    reply_text(gate, request->caller, 200, SLICE_OF("text/html; charset=utf-8"));
}
