/* What a solved task answers: tokens that say SIM_, in every shape the vendor uses. */
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

/* The id as the vendor writes it. */
void answer_add_id(struct buf *out, uint64_t number, enum id_form form);

/* The bare answer, as callbacks and lists of ids carry it; other tells a second opinion apart. */
void answer_add_text(struct buf *out, const struct task *task, const struct answer_style *style,
                     bool is_other);

/* A whole successful reply to a poll; price is given for get2 only. */
void answer_add_plain(struct buf *out, const struct task *task, const struct answer_style *style,
                      struct slice price);
void answer_add_json(struct buf *out, const struct task *task, const struct answer_style *style,
                     struct slice price);

#endif
