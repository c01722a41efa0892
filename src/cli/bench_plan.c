#include "cli/bench_plan.h"

#include "cli/bench_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MIN 0.001

static const char *const dialect_names[BENCH_DIALECT_COUNT] = {
    [BENCH_V1] = "v1", [BENCH_VENDOR] = "vendor", [BENCH_CREATETASK] = "createtask"};

/* Digits and at most one point: no signs, exponents, "inf" or "nan", which strtod would take. */
static bool parse_decimal(struct slice text, double *number)
{
    char copy[32];
    size_t points = 0;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        points += text.data[i] == '.' ? 1 : 0;
        if (text.data[i] != '.' && (text.data[i] < '0' || text.data[i] > '9'))
            return false;
    }
    if (points > 1 || points == text.len)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *number = strtod(copy, NULL);
    return true;
}

static bool parse_rate(struct slice text, double *per_second)
{
    double number = 0;
    double seconds = 1;
    if (text.len > 2 && text.data[text.len - 2] == '/') {
        const char unit = text.data[text.len - 1];
        if (unit != 's' && unit != 'm')
            return false;
        seconds = unit == 'm' ? 60 : 1;
        text.len -= 2;
    }
    if (!parse_decimal(text, &number) || number / seconds < RATE_MIN ||
        number / seconds > BENCH_RATE_MAX)
        return false;
    *per_second = number / seconds;
    return true;
}

bool bench_parse_rate(const char *text, double *per_second)
{
    return parse_rate(slice_from(text), per_second);
}

size_t bench_parse_steps(const char *text, double steps[BENCH_STEPS_MAX])
{
    struct slice rest = slice_from(text);
    size_t count = 0;
    bool goes_on = true;
    while (goes_on) {
        goes_on = memchr(rest.data, ',', rest.len) != NULL;
        if (count == BENCH_STEPS_MAX || !parse_rate(slice_take(&rest, ','), &steps[count]))
            return 0;
        count++;
    }
    return count;
}

bool bench_parse_real(const char *text, double least, double most, double *number)
{
    double read = 0;
    if (!parse_decimal(slice_from(text), &read) || read < least || read > most)
        return false;
    *number = read;
    return true;
}

bool bench_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    unsigned long long read = 0;
    if (!slice_to_u64(slice_from(text), &read) || read < least || read > most)
        return false;
    *number = read;
    return true;
}

bool bench_parse_dialect(const char *text, enum bench_dialect *dialect)
{
    for (int i = 0; i < BENCH_DIALECT_COUNT; i++) {
        if (strcmp(text, dialect_names[i]) == 0) {
            *dialect = (enum bench_dialect)i;
            return true;
        }
    }
    return false;
}

const char *bench_dialect_name(enum bench_dialect dialect)
{
    return dialect_names[dialect];
}

bool bench_is_open_loop(const struct bench_plan *plan)
{
    return plan->step_count > 0 || plan->trace != NULL;
}

double bench_top_rate(const struct bench_plan *plan)
{
    double top = plan->trace == NULL ? 0 : bench_trace_top_rate(plan->trace, plan->speed);
    for (size_t i = 0; i < plan->step_count; i++)
        top = fmax(top, plan->steps[i]);
    return top;
}

bool bench_ramp_fits(const struct bench_plan *plan)
{
    const uint64_t parts = plan->step_count > 1 ? plan->step_count : 1;
    return plan->duration_ms == 0 || plan->ramp_ms * parts <= plan->duration_ms;
}

uint64_t bench_expected_requests(const struct bench_plan *plan)
{
    double sum = 0;
    if (plan->step_count == 0 || plan->duration_ms == 0)
        return plan->requests;
    for (size_t i = 0; i < plan->step_count; i++)
        sum += plan->steps[i];
    const double seconds = (double)plan->duration_ms / 1000;
    /* While it grows, the rate is half as high on average. */
    const double ramped = plan->steps[0] * (double)plan->ramp_ms / 1000 / 2;
    const uint64_t fitting = (uint64_t)(sum * seconds / (double)plan->step_count - ramped + 0.5);
    return plan->requests > 0 && plan->requests < fitting ? plan->requests : fitting;
}
