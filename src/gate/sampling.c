#include "gate/sampling.h"

#include "base/assert.h"
#include "gate/gate_state.h"

#include <solvegate/view.h>

#include <stdlib.h>

/* Reads counters that are there anyway, so that a request costs nothing more. */
static void sample_engine(const struct engine *engine, struct series_sample *sample)
{
    const struct stats *const stats = engine_stats(engine);
    struct gauges gauges;
    engine_gauges(engine, &gauges);
    *sample = (struct series_sample){
        .counts =
            {
#define SERIES_AS_COUNTER(name) [SERIES_COUNT_##name] = stats->name,
                SERIES_COUNT_LIST(SERIES_AS_COUNTER)
#undef SERIES_AS_COUNTER
            },
        .gauges =
            {
#define SERIES_AS_LEVEL(name) [SERIES_GAUGE_##name] = gauges.name,
                SERIES_GAUGE_LIST(SERIES_AS_LEVEL)
#undef SERIES_AS_LEVEL
            },
        .solves = engine_timing(engine, TIMING_SOLVE),
    };
}

/* Armed anew for the end of each second, since a repeating timer would drift away from it. */
static void on_second(uv_timer_t *timer)
{
    struct gate *gate = timer->data;
    struct series_sample sample;
    const uint64_t now_ms = gate_now_ms(gate);
    sample_engine(gate->engine, &sample);
    series_take(gate->series, now_ms, gate->wall_ms, &sample);
    uv_timer_start(timer, on_second, series_left_ms(gate->series, now_ms), 0);
}

void sampling_open(struct gate *gate)
{
    gate->series = calloc(1, sizeof *gate->series);
    ASSERT(gate->series != NULL);
    series_init(gate->series, gate_now_ms(gate));
    gate->series_run = gate_entropy(gate);
    uv_timer_init(&gate->loop, &gate->series_timer);
    gate->series_timer.data = gate;
}

void sampling_start(struct gate *gate)
{
    const uint64_t left_ms = series_left_ms(gate->series, gate_now_ms(gate));
    uv_timer_start(&gate->series_timer, on_second, left_ms, 0);
}

void sampling_free(struct gate *gate)
{
    free(gate->series);
}
