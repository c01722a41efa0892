/* The rows of the table agree with themselves: nothing reads a default as strictly as a file is read. */
#include "config/config_fields.h"
#include "config/config_options.h"
#include "config/config_values.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EACH_ROW(row)                        \
    const struct option *row = option_table; \
    row < option_table + option_count;       \
    row++

static bool has_range(const struct option *row)
{
    return row->kind == OPTION_COUNT || row->kind == OPTION_DURATION || row->kind == OPTION_SIZE;
}

/* The number that somebody gets who copies the default from the reference into a file. */
static uint64_t number_of(const struct option *row, const char *text)
{
    uint64_t number = 0;
    unsigned long long count = 0;
    if (row->kind == OPTION_DURATION)
        assert_true(value_parse_duration(slice_from(text), &number));
    else if (row->kind == OPTION_SIZE)
        assert_true(value_parse_size(slice_from(text), &number));
    else
        assert_true(slice_to_u64(slice_from(text), &count));
    return row->kind == OPTION_COUNT ? count : number;
}

static void check_preset(const struct option *row, const struct option_preset *preset)
{
    if (preset->text == NULL || preset->text[0] == '\0')
        return;
    if (preset->number < row->min || preset->number > row->max)
        fail_msg("%s: the default is out of range", row->path);
    if (number_of(row, preset->text) != preset->number)
        fail_msg("%s: the default is %llu, but the text says %s", row->path,
                 (unsigned long long)preset->number, preset->text);
}

static void defaults_are_in_range_and_what_their_texts_say(void **state)
{
    (void)state;
    for (EACH_ROW(row)) {
        if (!has_range(row))
            continue;
        check_preset(row, &row->preset);
        for (const struct option_type *own = row->types; own != NULL && own->type < TYPE_COUNT;
             own++)
            check_preset(row, &own->preset);
    }
}

static void defaults_that_are_words_have_one(void **state)
{
    (void)state;
    for (EACH_ROW(row)) {
        if (row->words == NULL || row->preset.text == NULL || row->shape == SHAPE_MAP)
            continue;
        uint64_t known = 0;
        bool is_known = false;
        for (const struct option_word *word = row->words; word->text != NULL; word++) {
            known |= word->value;
            is_known |= word->value == row->preset.number;
        }
        if (row->kind == OPTION_BIT ? (row->preset.number & ~known) != 0 : !is_known)
            fail_msg("%s: no word for the default", row->path);
    }
}

static void every_number_of_the_range_fits_its_field(void **state)
{
    (void)state;
    for (EACH_ROW(row)) {
        if (!option_is_number(row))
            continue;
        const uint64_t parts = row->kind == OPTION_SHARE   ? 1000
                               : row->kind == OPTION_PRICE ? 1000000
                                                           : 1;
        const uint64_t room = row->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * row->bytes) - 1;
        if (row->max > room / parts || row->min > row->max)
            fail_msg("%s: %zu bytes are too few", row->path, row->bytes);
    }
}

static size_t span_of(const struct option *row)
{
    return row->count_offset != 0         ? sizeof(void *)
           : row->shape == SHAPE_PER_TYPE ? row->bytes * TYPE_COUNT
                                          : row->bytes;
}

static void no_two_options_fill_the_same_field(void **state)
{
    (void)state;
    for (EACH_ROW(row))
        for (EACH_ROW(other)) {
            /* Keys and their hashes are two ways to say the same. */
            if (other >= row || other->home != row->home || row->kind == OPTION_KEY_HASH)
                continue;
            if (row->offset < other->offset + span_of(other) &&
                other->offset < row->offset + span_of(row))
                fail_msg("%s and %s fill the same field", other->path, row->path);
        }
}

static void bounds_are_options_of_the_same_kind(void **state)
{
    (void)state;
    for (EACH_ROW(row)) {
        const char *const bound = row->below != NULL ? row->below : row->at_most;
        if (bound == NULL)
            continue;
        const struct option *const other = option_find(SLICE_OF(""), slice_from(bound));
        assert_non_null(other);
        assert_int_equal(other->kind, row->kind);
        /* The defaults keep to it. */
        assert_true(row->preset.number < other->preset.number + (row->at_most != NULL));
    }
}

/* engine_configure() keeps what stands before `slots`. */
static void the_engine_takes_from_a_reload_what_the_table_calls_live(void **state)
{
    (void)state;
    const size_t start = offsetof(struct config, engine);
    for (EACH_ROW(row)) {
        const bool is_engine = row->home == HOME_CONFIG && row->offset >= start &&
                               row->offset < start + sizeof(struct engine_options);
        if (is_engine && row->is_live != (row->offset >= offsetof(struct config, engine.slots)))
            fail_msg("%s: the engine does otherwise at a reload", row->path);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_in_range_and_what_their_texts_say),
        cmocka_unit_test(defaults_that_are_words_have_one),
        cmocka_unit_test(every_number_of_the_range_fits_its_field),
        cmocka_unit_test(no_two_options_fill_the_same_field),
        cmocka_unit_test(bounds_are_options_of_the_same_kind),
        cmocka_unit_test(the_engine_takes_from_a_reload_what_the_table_calls_live),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
