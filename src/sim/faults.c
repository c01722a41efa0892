#include "sim/faults.h"

#include "base/assert.h"
#include "sim/text.h"

#include <stdlib.h>

void faults_init(struct faults *faults, uint64_t seed)
{
    *faults = (struct faults){.rule_count = 0};
    rand_init(&faults->rand, seed);
    ASSERT(fault_row_count <= sizeof faults->struck / sizeof faults->struck[0]);
}

void faults_close(struct faults *faults)
{
    free(faults->script);
    faults->script = NULL;
    faults->script_count = 0;
}

void faults_copy_rules(struct faults *to, const struct faults *from)
{
    memcpy(to->rules, from->rules, sizeof to->rules);
    memcpy(to->totals, from->totals, sizeof to->totals);
    to->rule_count = from->rule_count;
}

static void script_reserve(struct faults *faults)
{
    if (faults->script != NULL)
        return;
    faults->script = calloc(FAULTS_SCRIPT_MAX, sizeof *faults->script);
    ASSERT(faults->script != NULL);
}

void faults_copy_script(struct faults *to, const struct faults *from)
{
    to->script_count = from->script_count;
    if (from->script_count == 0)
        return;
    script_reserve(to);
    memcpy(to->script, from->script, from->script_count * sizeof *from->script);
}

int faults_add_rule(struct faults *faults, const struct fault_rule *rule)
{
    double *total = &faults->totals[rule->fault.row->place];

    if (faults->rule_count == FAULTS_RULES_MAX)
        return ERR_FULL;
    /* Slightly above 1, since tenths do not add up exactly. */
    if (rule->probability < 0 || *total + rule->probability > 1.0000001)
        return ERR_INVALID;
    *total += rule->probability;
    faults->rules[faults->rule_count++] = *rule;
    return 0;
}

int faults_add_script(struct faults *faults, const struct fault_rule *entry)
{
    if (faults->script_count == FAULTS_SCRIPT_MAX)
        return ERR_FULL;
    script_reserve(faults);
    faults->script[faults->script_count++] = *entry;
    return 0;
}

static int complain(struct buf *problem, const char *text, const char *why)
{
    buf_addf(problem, "fault %s: %s", text, why);
    return ERR_INVALID;
}

int faults_add_text(struct faults *faults, const char *text, struct buf *problem)
{
    const char *equals = strchr(text, '=');
    struct fault_rule rule = {.left = 0};

    if (equals == NULL)
        return complain(problem, text, "expected NAME=PROBABILITY[,VALUE]");
    const struct slice name = {text, (size_t)(equals - text)};
    const struct fault_row *row = fault_find(name);
    if (row == NULL) {
        const char *nearest = fault_suggest(name);
        buf_addf(problem, "fault %.*s is unknown%s%s%s", (int)name.len, name.data,
                 nearest == NULL ? "" : ", did you mean ", nearest == NULL ? "" : nearest,
                 nearest == NULL ? "" : "?");
        return ERR_INVALID;
    }
    const char *comma = strchr(equals, ',');
    const size_t length = comma == NULL ? strlen(equals + 1) : (size_t)(comma - equals - 1);
    if (!text_to_double((struct slice){equals + 1, length}, &rule.probability))
        return complain(problem, text, "the probability is not a number between 0 and 1");
    const struct slice value = comma == NULL ? SLICE_NONE : slice_from(comma + 1);
    if (!fault_set(&rule.fault, row, value))
        return complain(problem, text, "it does not take such a value");
    if (faults_add_rule(faults, &rule) != 0)
        return complain(problem, text, "the probabilities of one place add up to more than 1");
    return 0;
}

void faults_count(struct faults *faults, const struct fault *fault)
{
    if (fault->row != NULL && fault->row->kind != FAULT_NONE)
        faults->struck[fault->row - fault_rows]++;
}

static bool is_match(const struct fault_rule *entry, enum fault_place place,
                     const struct params *params)
{
    if (entry->fault.row->place != place)
        return false;
    return entry->match_name == NULL ||
           slice_equals(params_get(params, slice_from(entry->match_name)),
                        slice_from(entry->match_value));
}

/* True if a script entry decides about this call. */
static bool draw_script(struct faults *faults, enum fault_place place, const struct params *params,
                        struct fault *fault)
{
    for (size_t i = 0; i < faults->script_count; i++) {
        struct fault_rule *entry = &faults->script[i];
        if (!is_match(entry, place, params))
            continue;
        if (entry->skip > 0) {
            entry->skip--;
            return false;
        }
        *fault = entry->fault;
        if (--entry->left == 0) {
            faults->script_count--;
            memmove(entry, entry + 1, (faults->script_count - i) * sizeof *entry);
        }
        return true;
    }
    return false;
}

static struct fault draw_rule(struct faults *faults, enum fault_place place)
{
    /* 53 bits are the precision of a double between 0 and 1. */
    double mark = (double)(rand_u64(&faults->rand) >> 11) / 9007199254740992.0;

    for (size_t i = 0; i < faults->rule_count; i++) {
        if (faults->rules[i].fault.row->place != place)
            continue;
        mark -= faults->rules[i].probability;
        if (mark < 0)
            return faults->rules[i].fault;
    }
    return (struct fault){.row = NULL};
}

struct fault faults_draw(struct faults *faults, enum fault_place place, const struct params *params)
{
    struct fault fault = {.row = NULL};

    if (faults->script_count == 0 && faults->totals[place] <= 0)
        return fault;
    if (!draw_script(faults, place, params, &fault) && faults->totals[place] > 0)
        fault = draw_rule(faults, place);
    faults_count(faults, &fault);
    return fault;
}
