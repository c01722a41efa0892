#include "proto/metrics.h"

#include <solvegate/words.h>

void metrics_counter(struct buf *out, const char *name, const char *help, uint64_t value)
{
    buf_addf(out, "# HELP solvegate_%s_total %s.\n# TYPE solvegate_%s_total counter\n", name, help,
             name);
    buf_addf(out, "solvegate_%s_total %llu\n", name, (unsigned long long)value);
}

void metrics_gauge(struct buf *out, const char *name, const char *help, uint64_t value)
{
    buf_addf(out, "# HELP solvegate_%s %s.\n# TYPE solvegate_%s gauge\n", name, help, name);
    buf_addf(out, "solvegate_%s %llu\n", name, (unsigned long long)value);
}

void metrics_write_engine(struct buf *out, const struct stats *stats, const struct gauges *gauges)
{
#define STATS_AS_METRIC(field, text) metrics_counter(out, #field, text, stats->field);
    STATS_LIST(STATS_AS_METRIC)
#undef STATS_AS_METRIC
    metrics_gauge(out, "requests_waiting", "Requests not answered yet", gauges->waiting);
    metrics_gauge(out, "requests_kept", "Requests in memory, answered ones included",
                  gauges->requests);
    metrics_gauge(out, "flights_open", "Flights under way", gauges->flights);
    metrics_gauge(out, "flights_queued", "Flights waiting for a slot", gauges->queued);
    metrics_gauge(out, "callers_held", "Callers held at a door", gauges->callers);
    metrics_gauge(out, "solutions_cached", "Solutions in memory", gauges->solutions);
    metrics_gauge(out, "solutions_cached_bytes", "Bytes of solutions in memory",
                  gauges->solution_bytes);
    metrics_gauge(out, "idempotency_records", "Idempotency records in memory", gauges->idempotency);
    metrics_gauge(out, "letters_kept", "Dead letters in memory", gauges->letters);
    metrics_gauge(out, "letters_to_replay", "Dead letters waiting to be replayed", gauges->replays);
    metrics_gauge(out, "slots_used", "Slots of the plan in use", gauges->slots_used);
    metrics_gauge(out, "slots_limit", "Adaptive limit of slots", gauges->slots_limit);
    metrics_gauge(out, "slots_plan", "Slots of the plan", gauges->slots_plan);
    metrics_gauge(out, "breaker_open", "1 while nothing is submitted",
                  gauges->breaker == BREAKER_CLOSED ? 0 : 1);
}
