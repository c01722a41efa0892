/* Words of the contract by their place, so that they can be written and found again in a row. */
#ifndef SOLVEGATE_STORE_STORE_WORDS_H
#define SOLVEGATE_STORE_STORE_WORDS_H

#include <solvegate/record.h>
#include <solvegate/words.h>

#define REUSE_COUNT ((unsigned)REUSE_NONE + 1)
#define REQUEST_STATE_COUNT ((unsigned)REQUEST_FAILED + 1)

static inline const char *word_of_captcha(unsigned place)
{
    return captcha_name((enum captcha)place);
}

static inline const char *word_of_class(unsigned place)
{
    return class_name((enum class)place);
}

static inline const char *word_of_cause(unsigned place)
{
    return cause_name((enum cause)place);
}

static inline const char *word_of_source(unsigned place)
{
    return source_name((enum source)place);
}

static inline const char *word_of_reuse(unsigned place)
{
    return reuse_name((enum reuse)place);
}

static inline const char *word_of_state(unsigned place)
{
    return request_state_name((enum request_state)place);
}

static inline const char *word_of_letter_kind(unsigned place)
{
    return letter_kind_name((enum letter_kind)place);
}

/* False leaves *place alone. */
static inline bool word_find(struct slice word, const char *(*name_at)(unsigned place),
                             unsigned count, unsigned *place)
{
    for (unsigned i = 0; i < count; i++) {
        if (slice_is_given(word) && slice_equals(word, slice_from(name_at(i)))) {
            *place = i;
            return true;
        }
    }
    return false;
}

#endif
