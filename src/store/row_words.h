/* The words for the contract's enums in a row. */
#ifndef SOLVEGATE_STORE_ROW_WORDS_H
#define SOLVEGATE_STORE_ROW_WORDS_H

#include "base/slice.h"

struct row_words {
    const char *(*name_at)(unsigned place);
    unsigned count;
    const char *old_word; /* of an earlier version, or NULL */
    unsigned old_place;   /* what it stands for */
};

extern const struct row_words type_words;
extern const struct row_words cause_words;
extern const struct row_words error_class_words;
extern const struct row_words letter_kind_words;
extern const struct row_words reuse_words;
extern const struct row_words source_words;
extern const struct row_words request_state_words;

/* Finds the index of a word; false leaves *place unchanged. */
bool row_words_find(const struct row_words *words, struct slice word, unsigned *place);

#endif
