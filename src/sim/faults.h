/* Chooses the fault of a call: by script first, then by probability. */
#ifndef SOLVEGATE_SIM_FAULTS_H
#define SOLVEGATE_SIM_FAULTS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/rand.h"

#include "sim/fault.h"
#include "sim/params.h"

#define FAULTS_RULES_MAX 64
#define FAULTS_SCRIPT_MAX 4096

struct fault_rule {
    struct fault fault;
    double probability;     /* of a rule */
    uint32_t skip;          /* of a script entry: matching calls to let pass first */
    uint32_t left;          /* of a script entry: calls left to affect */
    const char *match_name; /* affect only calls with this parameter, or NULL */
    const char *match_value;
};

struct faults {
    struct fault_rule rules[FAULTS_RULES_MAX];
    size_t rule_count;
    struct fault_rule *script; /* owned */
    size_t script_count;
    double totals[PLACE_COUNT]; /* if 0, no rule needs to be checked for this place */
    uint64_t struck[64];        /* by row */
    struct rand rand;
};

void faults_init(struct faults *faults, uint64_t seed);
void faults_close(struct faults *faults);

/* Takes over the rules and script of another, as PUT /sim/faults and reset do. */
void faults_copy_rules(struct faults *to, const struct faults *from);
void faults_copy_script(struct faults *to, const struct faults *from);

/* NAME=PROBABILITY[,VALUE]; ERR_INVALID with a sentence in problem. */
int faults_add_text(struct faults *faults, const char *text, struct buf *problem) MUST_CHECK;

/* ERR_INVALID when the probabilities of a place exceed 1, ERR_FULL when there are too many. */
int faults_add_rule(struct faults *faults, const struct fault_rule *rule) MUST_CHECK;
int faults_add_script(struct faults *faults, const struct fault_rule *entry) MUST_CHECK;

/* Draws the fault of a call at this place with these parameters, and counts it. */
struct fault faults_draw(struct faults *faults, enum fault_place place,
                         const struct params *params);

/* Counts faults of magic sitekeys, so that the totals are complete. */
void faults_count(struct faults *faults, const struct fault *fault);

#endif
