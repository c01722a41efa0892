#include "store/row_json.h"
#include "store/row_values.h"
#include "store/row_words.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_table_is_sane(const struct row_table *table)
{
    bool has_expiry_column = table->expiry.column == NULL;
    assert_true(table->count <= ROW_COLUMNS_MAX);
    assert_true(table->key_count > 0 && table->key_count < table->count);
    for (size_t i = 0; i < table->count; i++) {
        const struct column *const column = &table->columns[i];
        assert_int_equal(column->type == COLUMN_WORD, column->words != NULL);
        assert_int_equal(column->type == COLUMN_STRING, column->size > 0);
        if (table->expiry.column != NULL && strcmp(column->name, table->expiry.column) == 0)
            has_expiry_column = true;
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(table->columns[k].name, column->name);
    }
    assert_true(has_expiry_column);
}

static void every_kind_has_a_table_with_columns_of_their_own(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        assert_table_is_sane(&row_tables[kind]);
}

/* A row of which every column is understood. */
static void make_values(const struct row_table *table, struct row_value *values)
{
    static const char key[KEY_BYTES];
    for (size_t i = 0; i < table->count; i++) {
        const struct column *const column = &table->columns[i];
        struct slice text = SLICE_OF("");
        if (column->type == COLUMN_KEY || column->type == COLUMN_KEY_OR_NONE)
            text = (struct slice){.data = key, .len = KEY_BYTES};
        else if (column->type == COLUMN_WORD)
            text = slice_from(column->words->name_at(0));
        else if (column->type == COLUMN_STATS || column->type == COLUMN_TALLY)
            text = SLICE_OF("{}");
        else if (column->type == COLUMN_NOTES)
            text = SLICE_OF("[]");
        values[i] = column_is_integer(column->type)
                        ? (struct row_value){.type = VALUE_INTEGER, .integer = 1}
                        : (struct row_value){.type = VALUE_TEXT, .bytes = text};
    }
}

static bool is_understood(enum record_kind kind, const struct row_value *values)
{
    struct record record = {.kind = kind};
    struct slice client;
    const bool is_good = row_from_values(values, &record, &client);
    record_close(&record);
    return is_good;
}

static void a_value_of_the_wrong_type_spoils_the_row_in_any_column(void **state)
{
    (void)state;
    struct row_value values[ROW_COLUMNS_MAX];
    for (unsigned k = 0; k < RECORD_KIND_COUNT; k++) {
        const enum record_kind kind = (enum record_kind)k;
        make_values(&row_tables[k], values);
        assert_true(is_understood(kind, values));
        for (size_t i = 0; i < row_tables[k].count; i++) {
            const struct row_value good = values[i];
            const bool is_integer = good.type == VALUE_INTEGER;
            values[i] = is_integer ? (struct row_value){.type = VALUE_TEXT, .bytes = SLICE_OF("1")}
                                   : (struct row_value){.type = VALUE_INTEGER, .integer = 1};
            assert_false(is_understood(kind, values));
            values[i] = good;
        }
    }
}

static void an_integer_beyond_its_column_spoils_the_row(void **state)
{
    (void)state;
    struct row_value values[ROW_COLUMNS_MAX];
    for (unsigned k = 0; k < RECORD_KIND_COUNT; k++) {
        const enum record_kind kind = (enum record_kind)k;
        make_values(&row_tables[k], values);
        for (size_t i = 0; i < row_tables[k].count; i++) {
            const enum column_type type = row_tables[k].columns[i].type;
            const bool takes_all =
                type == COLUMN_U64 || type == COLUMN_DAY || type == COLUMN_U16_OR_NONE;
            if (values[i].type != VALUE_INTEGER || takes_all)
                continue;
            values[i].integer = INT64_MAX;
            assert_false(is_understood(kind, values));
            values[i].integer = -1;
            assert_false(is_understood(kind, values));
            values[i].integer = 1;
            assert_true(is_understood(kind, values));
        }
    }
}

static void counters_may_come_and_go_between_versions(void **state)
{
    (void)state;
    struct day_row day;
    assert_true(row_json_read_stats(
        SLICE_OF("{\"requests\":18446744073709551615,\"abandoned\":7,\"solves\":3}"), &day));
    const struct stats stats = record_stats(&day);
    assert_true(stats.requests == UINT64_MAX && stats.solves == 3 && stats.failed == 0);
    blob_unref(day.stats);
    assert_null(day.hours);
    assert_false(row_json_read_stats(SLICE_OF("[1]"), &day));
    assert_false(row_json_read_stats(SLICE_OF("{\"requests\":"), &day));
}

static void hours_that_no_day_has_are_ignored(void **state)
{
    (void)state;
    struct day_row day;
    struct shadow_hour hours[SHADOW_HOURS];
    assert_true(row_json_read_stats(
        SLICE_OF(
            "{\"shadow_hours\":[{\"hour\":23,\"paid\":5,\"duplicates\":2},{\"hour\":24,\"paid\":9},"
            "{\"paid\":1},7,{\"hour\":-1,\"paid\":9}]}"),
        &day));
    assert_int_equal(day.hours->len, sizeof hours);
    memcpy(hours, day.hours->data, sizeof hours);
    assert_int_equal(hours[23].paid, 5);
    assert_int_equal(hours[23].duplicates, 2);
    assert_int_equal(hours[0].paid, 0);
    blob_unref(day.hours);
    blob_unref(day.stats);
}

static void a_letter_of_an_older_database_about_a_callback_is_about_a_notice(void **state)
{
    (void)state;
    unsigned place = LETTER_KIND_COUNT;
    assert_true(row_words_find(&letter_kind_words, SLICE_OF("callback"), &place));
    assert_int_equal(place, LETTER_OF_NOTICE);
    assert_string_equal(letter_kind_words.name_at(place), "notice");
    assert_false(row_words_find(&letter_kind_words, SLICE_OF("callbacks"), &place));
    assert_false(row_words_find(&letter_kind_words, SLICE_NONE, &place));
    assert_false(row_words_find(&type_words, SLICE_OF("callback"), &place));
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_table_with_columns_of_their_own),
        cmocka_unit_test(a_value_of_the_wrong_type_spoils_the_row_in_any_column),
        cmocka_unit_test(an_integer_beyond_its_column_spoils_the_row),
        cmocka_unit_test(hours_that_no_day_has_are_ignored),
        cmocka_unit_test(counters_may_come_and_go_between_versions),
        cmocka_unit_test(a_letter_of_an_older_database_about_a_callback_is_about_a_notice),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
