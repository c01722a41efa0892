/* For the operator: statistics, flights, metrics, health, the API document. */
#include "io/client_names.h"
#include "io/doors.h"
#include "io/intake.h"
#include "io/openapi.h"
#include "io/reply.h"
#include "proto/api.h"
#include "proto/metrics.h"

#define FLIGHTS_PAGE 100

void door_stats(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)number;
    struct gauges gauges;
    struct stats_page pages[STATS_DAYS + 1];
    size_t count = 0;
    for (unsigned ago = 0; ago <= STATS_DAYS; ago++) {
        pages[count].stats = engine_stats_of_day(gate->engine, ago, &pages[count].day);
        count += pages[count].stats != NULL;
    }
    engine_gauges(gate->engine, &gauges);
    api_write_stats(&gate->body, &gauges, engine_stats(gate->engine), pages, count);
    reply_json(gate, request->caller, visit, 200);
}

void door_flights(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    struct flight_view views[FLIGHTS_PAGE];
    struct gauges gauges;
    uint64_t cursor;
    const size_t limit = intake_page(gate, FLIGHTS_PAGE, &cursor);
    const size_t count = engine_list_flights(gate->engine, &cursor, views, limit);
    const struct api_names names = client_names(gate);
    engine_gauges(gate->engine, &gauges);
    api_write_flights(&gate->body, views, count, gauges.flights, cursor, &names);
    reply_json(gate, request->caller, visit, 200);
}

static void write_io_metrics(struct gate *gate)
{
    struct http_counters http;
    struct upstream_counters vendor;
    struct buf *out = &gate->body;
    http_counters(gate->server, &http);
    upstream_counters(gate->upstream, &vendor);
    metrics_counter(out, "http_connections", "Connections accepted", http.accepted);
    metrics_counter(out, "http_requests", "HTTP requests taken", http.requests);
    metrics_counter(out, "http_bad_requests", "HTTP requests refused as malformed or too large",
                    http.bad_requests);
    metrics_counter(out, "http_timeouts", "Connections closed by a deadline", http.timeouts);
    metrics_counter(out, "http_received_bytes", "Bytes read from callers", http.bytes_in);
    metrics_counter(out, "http_sent_bytes", "Bytes written to callers", http.bytes_out);
    metrics_gauge(out, "http_connections_open", "Connections open", http.open);
    metrics_counter(out, "vendor_calls", "HTTP calls to the vendor", vendor.calls);
    metrics_counter(out, "vendor_errors", "HTTP calls to the vendor that failed in transport",
                    vendor.errors);
    metrics_counter(out, "vendor_connections", "Connections opened to the vendor",
                    vendor.connections_opened);
    metrics_gauge(out, "vendor_calls_active", "Calls to the vendor on the wire", vendor.active);
    metrics_gauge(out, "vendor_calls_waiting", "Calls to the vendor waiting for a connection",
                  vendor.waiting);
}

void door_metrics(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)visit;
    (void)number;
    struct gauges gauges;
    engine_gauges(gate->engine, &gauges);
    metrics_write_engine(&gate->body, engine_stats(gate->engine), &gauges);
    write_io_metrics(gate);
    metrics_gauge(&gate->body, "uptime_seconds", "Seconds since start",
                  (uv_now(&gate->loop) - gate->started_ms) / 1000);
    reply_text(gate, request->caller, 200, SLICE_OF("text/plain; version=0.0.4; charset=utf-8"));
}

void door_livez(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)visit;
    (void)number;
    buf_add(&gate->body, SLICE_OF("ok\n"));
    reply_text(gate, request->caller, 200, SLICE_OF("text/plain; charset=utf-8"));
}

/* Never fails because the vendor is down: restarting us would not bring it back. */
void door_readyz(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    (void)visit;
    (void)number;
    buf_add(&gate->body, gate->is_draining ? SLICE_OF("draining\n") : SLICE_OF("ready\n"));
    reply_text(gate, request->caller, gate->is_draining ? 503 : 200,
               SLICE_OF("text/plain; charset=utf-8"));
}

void door_openapi(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    buf_add(&gate->body, openapi_document());
    reply_json(gate, request->caller, visit, 200);
}
