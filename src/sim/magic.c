#include "sim/magic.h"

static const char *const shorthands[][2] = {
    {"HANG", "submit-hang"},        {"LOST", "submit-lost"},    {"NEVER", "task-never"},
    {"SLOW", "task-slow"},          {"SUBMIT", "submit-error"}, {"POLL", "poll-error"},
    {"CALLBACK", "callback-error"},
};

/* Splits off the value after a name: nothing, or a dash and the rest. False if the
 * word continues otherwise. */
static bool split_value(struct slice word, struct slice name, struct slice *value)
{
    *value = SLICE_NONE;
    if (word.len < name.len || !slice_equals_nocase((struct slice){word.data, name.len}, name))
        return false;
    if (word.len == name.len)
        return true;
    *value = slice_skip(word, name.len + 1);
    return word.data[name.len] == '-';
}

/* The longest name wins, since submit-lost is also a prefix of submit-lost-reset. */
static const struct fault_row *find_row(struct slice word, struct slice *value)
{
    const struct fault_row *best = NULL;
    size_t best_len = 0;
    struct slice rest;

    for (size_t i = 0; i < fault_row_count; i++) {
        const struct slice name = slice_from(fault_rows[i].name);
        if (name.len > best_len && split_value(word, name, &rest)) {
            best = &fault_rows[i];
            best_len = name.len;
            *value = rest;
        }
    }
    return best;
}

static const struct fault_row *find_shorthand(struct slice word, struct slice *value)
{
    for (size_t i = 0; i < sizeof shorthands / sizeof shorthands[0]; i++)
        if (split_value(word, slice_from(shorthands[i][0]), value))
            return fault_find(slice_from(shorthands[i][1]));
    /* A word that is not a fault's name is an error code, which is all upper case. */
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] >= 'a' && word.data[i] <= 'z')
            return NULL;
    if (!slice_starts_with(word, SLICE_OF("ERROR_")) &&
        !slice_equals(word, SLICE_OF("IP_BANNED")) &&
        !slice_equals(word, SLICE_OF("MAX_USER_TURN")))
        return NULL;
    *value = word;
    return fault_find(SLICE_OF("task-error"));
}

static int read_word(struct magic *magic, struct slice word)
{
    struct slice value = SLICE_NONE;
    struct fault fault;

    if (slice_equals(word, SLICE_OF("FAST")))
        word = SLICE_OF("task-slow-0");
    const struct fault_row *row = find_row(word, &value);
    if (row == NULL)
        row = find_shorthand(word, &value);
    if (row == NULL || !fault_set(&fault, row, value))
        return ERR_INVALID;
    if (row->kind == FAULT_SLOW) {
        magic->has_solve_ms = true;
        magic->solve_ms = fault.number;
        return 0;
    }
    magic->faults[row->place] = fault;
    magic->is_given[row->place] = true;
    return 0;
}

static int read_words(struct magic *magic, struct slice words)
{
    /* The part after a dot only makes sitekeys differ. */
    words = slice_take(&words, '.');
    while (words.len > 0) {
        const int rc = read_word(magic, slice_take(&words, '+'));
        if (rc != 0)
            return rc;
    }
    return 0;
}

int magic_read(struct magic *magic, const struct params *params)
{
    static const char *const carriers[] = {
        "googlekey", "sitekey", "gt", "captcha_id", "publickey", "textinstructions", "instructions",
    };

    *magic = (struct magic){.is_given = {false}};
    for (size_t i = 0; i < sizeof carriers / sizeof carriers[0]; i++) {
        const struct slice value = params_get(params, slice_from(carriers[i]));
        if (slice_is_given(value) && slice_starts_with(value, SLICE_OF("SIM-")))
            return read_words(magic, slice_skip(value, 4));
    }
    return 0;
}
