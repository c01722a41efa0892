/* GET /metrics: the engine's counters, then doors, vendor, store, loop and process. */
#include "doors/door_metrics.h"

#include "doors/door_nodes.h"
#include "doors/process.h"
#include "doors/render.h"
#include "gate/client_names.h"
#include "proto/metrics.h"

#include <solvegate/view.h>

/* Lines in one piece; each takes 0.1 us, so a piece takes 0.1 ms. */
#define PIECE 1024
/* Round trips are counted in tenths of a millisecond. */
#define ROUND_TRIP_UNITS 10000

static void write_timings(struct gate *gate, struct buf *out)
{
#define TIMING_AS_METRIC(timing, metric, text)                 \
    metrics_head(out, "solvegate_" metric, "histogram", text); \
    metrics_histogram(out, "solvegate_" metric, "", engine_timing(gate->engine, TIMING_##timing));
    TIMING_LIST(TIMING_AS_METRIC)
#undef TIMING_AS_METRIC
}

static void write_http(struct gate *gate, struct buf *out)
{
    struct http_counters http;
    http_counters(gate->server, &http);
    metrics_counter(out, "http_connections", "Connections accepted", http.accepted);
    metrics_counter(out, "http_requests", "HTTP requests taken", http.requests);
    metrics_counter(out, "http_bad_requests", "HTTP requests refused as malformed or too large",
                    http.bad_requests);
    metrics_counter(out, "http_timeouts", "Connections closed by a deadline", http.timeouts);
    metrics_counter(out, "http_unread",
                    "Connections closed because replies that nobody read took too much memory",
                    http.unread);
    metrics_counter(out, "http_partial_limit_refusals",
                    "HTTP requests refused because half-sent ones took too much memory",
                    http.partial_refusals);
    /* Old name, kept for existing dashboards; to be removed in the release after 0.2.0. */
    metrics_counter(out, "http_crowded", "Old name of solvegate_http_partial_limit_refusals_total",
                    http.partial_refusals);
    metrics_counter(out, "http_received_bytes", "Bytes read from callers", http.bytes_in);
    metrics_counter(out, "http_sent_bytes", "Bytes written to callers", http.bytes_out);
    metrics_gauge(out, "http_connections_open", "Connections open", http.open);
    metrics_gauge(out, "http_partial_bytes", "Memory of requests that callers are still sending",
                  http.partial_bytes);
    metrics_gauge(out, "http_unsent_bytes", "Memory of replies that callers have not taken yet",
                  http.unsent_bytes);
    metrics_head(out, "solvegate_http_answer_seconds", "histogram",
                 "Time from a request to its answer; held are those that asked to wait");
    metrics_histogram(out, "solvegate_http_answer_seconds", "held=\"no\"",
                      http_answer_times(gate->server, false));
    metrics_histogram(out, "solvegate_http_answer_seconds", "held=\"yes\"",
                      http_answer_times(gate->server, true));
}

static void write_vendor(struct gate *gate, struct buf *out)
{
    struct upstream_counters vendor;
    upstream_counters(gate->upstream, &vendor);
    metrics_counter(out, "vendor_calls", "HTTP calls to the vendor", vendor.calls);
    metrics_counter(out, "vendor_errors", "HTTP calls to the vendor that failed in transport",
                    vendor.errors);
    metrics_counter(out, "vendor_connections", "Connections opened to the vendor",
                    vendor.connections_opened);
    metrics_gauge(out, "vendor_calls_active", "Calls to the vendor on the wire", vendor.active);
    metrics_gauge(out, "vendor_calls_waiting", "Calls to the vendor waiting for a connection",
                  vendor.waiting);
}

/* Writes zeros if there is no store, so that dashboards and alerts find the metrics. */
static void write_store(struct gate *gate, struct buf *out)
{
    const struct persist *persist = &gate->persist;
    struct store_counters store = {0};
    if (persist->store != NULL)
        store_counters(persist->store, &store);
    metrics_gauge(out, "store_configured",
                  "1 when there is a store or a data_dir, 0 in memory only",
                  persist->store != NULL);
    metrics_gauge(out, "store_up", "0 while the store cannot be reached",
                  persist->state != STORE_AWAY);
    metrics_gauge(out, "store_async", "1 when the store may lose what it acknowledged",
                  persist->store != NULL && store_about(persist->store).is_async);
    metrics_gauge(out, "store_writable", "1 unless the journal cannot be written",
                  persist->state == STORE_WRITABLE);
    metrics_counter(out, "store_records", "Records written to the journal", store.records);
    metrics_counter(out, "store_rows_skipped", "Rows of the journal that could not be read",
                    store.skipped);
    metrics_counter(out, "store_commits", "Commits of the journal", store.commits);
    metrics_counter(out, "store_reconnects", "Lost connections to the store that were made again",
                    store.reconnects);
    metrics_gauge(out, "store_records_waiting", "Records not on disk yet", store.waiting);
    metrics_gauge(out, "store_actions_held", "Answers and submits waiting for their records",
                  persist->count);
    metrics_gauge(out, "store_log_bytes", "Size of the journal's write-ahead log", store.bytes);
    metrics_head(out, "solvegate_store_commit_seconds", "histogram", "Time a commit took");
    metrics_histogram(out, "solvegate_store_commit_seconds", "", &store.commit_times);
    metrics_head(out, "solvegate_store_round_trip_seconds", "histogram",
                 "Time from sending a batch to its acknowledgement");
    metrics_histogram_in(out, "solvegate_store_round_trip_seconds", "", &store.round_trips,
                         ROUND_TRIP_UNITS);
    metrics_head(out, "solvegate_store_batch_records", "histogram", "Records in a commit");
    metrics_histogram_in(out, "solvegate_store_batch_records", "", &store.batch_sizes, 1);
}

static void write_self(struct gate *gate, struct buf *out)
{
    metrics_head(out, "solvegate_loop_lag_seconds", "histogram",
                 "How long a turn of the loop kept everything else waiting");
    metrics_histogram(out, "solvegate_loop_lag_seconds", "", &gate->loop_lag);
    metrics_head(out, "solvegate_build_info", "gauge", "Always 1; the label says what runs");
    metrics_sample(out, "solvegate_build_info", "version=\"" SOLVEGATE_VERSION "\"", 1);
    metrics_gauge(out, "draining", "1 while it finishes and takes nothing new", gate->is_draining);
    metrics_gauge(out, "uptime_seconds", "Seconds since start",
                  (gate_now_ms(gate) - gate->started_ms) / 1000);
    process_write_metrics(out, &gate->loop, gate->started_wall_ms);
}

void door_metrics_begin(struct gate *gate, struct buf *out)
{
    struct gauges gauges;
    struct metrics_render *metrics = &gate->render->metrics;
    const struct api_names names = client_names(gate);
    const struct stats_scope scope = client_scope(gate, &names);
    books_sum(&metrics->books, engine_tally(gate->engine, ENGINE_SINCE_START, 0, (enum type)0),
              scope.client_count);
    metrics->at = metrics->budgets_at = 0;
    engine_gauges(gate->engine, &gauges);
    metrics_write_engine(out, engine_stats(gate->engine), &gauges);
    metrics_write_unknown_errors(out, engine_unknown_errors(gate->engine));
    write_timings(gate, out);
    write_http(gate, out);
    write_vendor(gate, out);
    write_store(gate, out);
    door_nodes_metrics(gate, out);
    write_self(gate, out);
}

static bool budget_of(const void *context, client_id client, struct budget_view *budget)
{
    return engine_budget(context, client, budget);
}

bool door_metrics_go_on(struct gate *gate, struct buf *out)
{
    struct metrics_render *metrics = &gate->render->metrics;
    const struct api_names names = client_names(gate);
    struct stats_scope scope = client_scope(gate, &names);
    scope.client_count = metrics->books.client_count; /* a reload may have added some since */
    const struct metrics_budgets budgets = {.budget_of = budget_of, .context = gate->engine};
    return metrics_write_books(out, &metrics->books, &metrics->at, PIECE, &scope) ||
           metrics_write_budgets(out, &budgets, &metrics->budgets_at, PIECE, &scope);
}

void door_metrics(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    render_ask(gate, request, visit, RENDER_METRICS);
}
