#include "sim/plan.h"

#include <stdio.h>

void plan_init(struct plan *plan, const struct options *options)
{
    *plan = (struct plan){.options = options, .balance_micros = options->balance_micros};
}

const char *plan_check_key(const struct plan *plan, struct slice key)
{
    const struct options *options = plan->options;

    if (key.len != KEY_CHARACTERS)
        return "ERROR_WRONG_USER_KEY";
    for (size_t i = 0; i < options->key_count; i++)
        if (slice_equals(key, options->keys[i]))
            return NULL;
    return options->key_count == 0 ? NULL : "ERROR_KEY_DOES_NOT_EXIST";
}

const char *plan_check_room(const struct plan *plan, uint64_t in_flight)
{
    const struct options *options = plan->options;

    if (plan->balance_micros < options->price_micros)
        return "ERROR_ZERO_BALANCE";
    return options->slots > 0 && in_flight >= options->slots ? options->busy_code : NULL;
}

void plan_charge(struct plan *plan)
{
    const uint64_t price = plan->options->price_micros;

    plan->balance_micros -= price < plan->balance_micros ? price : plan->balance_micros;
}

void plan_refund(struct plan *plan)
{
    plan->balance_micros += plan->options->price_micros;
}

uint64_t plan_threads(const struct plan *plan)
{
    return plan->options->slots > 0 ? plan->options->slots : plan->options->tasks_max;
}

void plan_add_amount(struct buf *out, uint64_t micros)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%llu.%06llu", (unsigned long long)(micros / 1000000),
                          (unsigned long long)(micros % 1000000));

    while (length > 4 && text[length - 1] == '0' && text[length - 3] != '.')
        length--;
    buf_add(out, (struct slice){text, (size_t)length});
}
