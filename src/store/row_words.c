#include "store/row_words.h"

#include <solvegate/words.h>

#define REUSE_COUNT ((unsigned)REUSE_NONE + 1)
#define REQUEST_STATE_COUNT ((unsigned)REQUEST_FAILED + 1)

#define WORDS(words, type, function, how_many)    \
    static const char *words##_at(unsigned place) \
    {                                             \
        return function((enum type)place);        \
    }                                             \
    const struct row_words words = {.name_at = words##_at, .count = (how_many)}

WORDS(type_words, type, type_name, TYPE_COUNT);
WORDS(cause_words, cause, cause_name, CAUSE_COUNT);
WORDS(error_class_words, error_class, error_class_name, CLASS_COUNT);
WORDS(reuse_words, reuse, reuse_name, REUSE_COUNT);
WORDS(source_words, source, source_name, SOURCE_COUNT);
WORDS(request_state_words, request_state, request_state_name, REQUEST_STATE_COUNT);

static const char *letter_kind_at(unsigned place)
{
    return letter_kind_name((enum letter_kind)place);
}
const struct row_words letter_kind_words = {
    .name_at = letter_kind_at,
    .count = LETTER_KIND_COUNT,
    .old_word = "callback", /* before notices had a word of their own */
    .old_place = LETTER_OF_NOTICE,
};

bool row_words_find(const struct row_words *words, struct slice word, unsigned *place)
{
    for (unsigned i = 0; i < words->count; i++) {
        if (slice_is_given(word) && slice_equals(word, slice_from(words->name_at(i)))) {
            *place = i;
            return true;
        }
    }
    if (words->old_word == NULL || !slice_equals(word, slice_from(words->old_word)))
        return false;
    *place = words->old_place;
    return true;
}
