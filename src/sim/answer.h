/* The answers of solved tasks: tokens that begin with SIM_, in every form the vendor uses. */
#ifndef SOLVEGATE_SIM_ANSWER_H
#define SOLVEGATE_SIM_ANSWER_H

#include "base/buf.h"

#include "sim/options.h"
#include "sim/tasks.h"

struct answer_style {
    uint64_t seed;
    uint64_t token_bytes;
    enum clearance_form clearance;
};

/* Adds the id in the vendor's form. */
void answer_add_id(struct buf *out, uint64_t number, enum id_form form);

/* Adds the bare answer, as in callbacks and lists of ids; is_other makes a second answer differ. */
void answer_add_text(struct buf *out, const struct task *task, const struct answer_style *style,
                     bool is_other);

/* Adds a whole successful reply to a poll; price is given for get2 only. */
void answer_add_plain(struct buf *out, const struct task *task, const struct answer_style *style,
                      struct slice price);
void answer_add_json(struct buf *out, const struct task *task, const struct answer_style *style,
                     struct slice price);

#endif
