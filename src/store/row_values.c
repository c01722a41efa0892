#include "store/row_values.h"

#include "base/assert.h"
#include "store/row_json.h"

_Static_assert(sizeof(enum type) == sizeof(unsigned), "an enum is read and written as unsigned");

/* ---- records to values ------------------------------------------------------------------- */

static struct row_value integer(int64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

static struct row_value bytes(enum value_type type, struct slice bytes)
{
    return (struct row_value){.type = slice_is_given(bytes) ? type : VALUE_NULL, .bytes = bytes};
}

static struct row_value text(const char *string)
{
    return bytes(VALUE_TEXT, slice_from(string));
}

static struct row_value value_of(const struct column *column, const struct record *record,
                                 struct slice client, struct buf *scratch)
{
    const void *const field = (const char *)record + column->offset;
    switch (column->type) {
    case COLUMN_BOOL:
        return integer(*(const bool *)field);
    case COLUMN_U8:
        return integer(*(const uint8_t *)field);
    case COLUMN_U16:
        return integer(*(const uint16_t *)field);
    case COLUMN_U16_OR_NONE:
        return integer(*((const bool *)record + column->given_offset) ? *(const uint16_t *)field
                                                                      : -1);
    case COLUMN_U32:
        return integer(*(const uint32_t *)field);
    case COLUMN_U64:
    case COLUMN_DAY:
    case COLUMN_DATE:
    case COLUMN_TIME:
    case COLUMN_TIME_OR_0:
        return integer(*(const int64_t *)field);
    case COLUMN_KEY:
        return bytes(VALUE_BYTES, (struct slice){.data = field, .len = KEY_BYTES});
    case COLUMN_KEY_OR_NONE:
        return *((const bool *)record + column->given_offset)
                   ? bytes(VALUE_BYTES, (struct slice){.data = field, .len = KEY_BYTES})
                   : (struct row_value){.type = VALUE_NULL};
    case COLUMN_CLIENT:
        return bytes(VALUE_TEXT, client);
    case COLUMN_WORD:
        return text(column->words->name_at(*(const unsigned *)field));
    case COLUMN_STRING:
        return text(field);
    case COLUMN_TEXT:
        return bytes(VALUE_TEXT, blob_slice(*(struct blob *const *)field));
    case COLUMN_BYTES:
        return bytes(VALUE_BYTES, blob_slice(*(struct blob *const *)field));
    case COLUMN_STATS:
        row_json_add_stats(scratch, field);
        return bytes(VALUE_TEXT, buf_slice(scratch));
    case COLUMN_TALLY:
        row_json_add_tally(scratch, field);
        return bytes(VALUE_TEXT, buf_slice(scratch));
    case COLUMN_NOTES:
        row_json_add_notes(scratch, field);
        return bytes(VALUE_TEXT, buf_slice(scratch));
    }
    UNREACHABLE();
}

size_t row_to_values(const struct record *record, struct slice client, struct buf *scratch,
                     struct row_value values[ROW_COLUMNS_MAX])
{
    const struct row_table *const table = &row_tables[record->kind];
    const size_t count = record->is_drop ? table->key_count : table->count;
    buf_reset(scratch);
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(&table->columns[i], record, client, scratch);
    ASSERT(!scratch->is_full);
    return count;
}

/* ---- values to records ------------------------------------------------------------------- */

static bool read_unsigned(const struct row_value *value, uint32_t max, uint32_t *number)
{
    *number = (uint32_t)value->integer;
    return value->type == VALUE_INTEGER && value->integer >= 0 && value->integer <= max;
}

/* Any number out of range, such as -1, means none. */
static bool read_u16_or_none(const struct row_value *value, bool *is_given, uint16_t *number)
{
    *is_given = value->integer >= 0 && value->integer <= UINT16_MAX;
    *number = *is_given ? (uint16_t)value->integer : 0;
    return value->type == VALUE_INTEGER;
}

static bool read_integer(const struct row_value *value, int64_t *number)
{
    *number = value->integer;
    return value->type == VALUE_INTEGER;
}

static bool read_time(const struct row_value *value, int64_t *time_ms)
{
    return read_integer(value, time_ms) && *time_ms >= 0 && *time_ms <= ROW_TIME_MAX;
}

static bool is_bytes(const struct row_value *value)
{
    return value->type == VALUE_TEXT || value->type == VALUE_BYTES;
}

static bool read_key(const struct row_value *value, struct key *key)
{
    if (!is_bytes(value) || value->bytes.len != KEY_BYTES)
        return false;
    memcpy(key->bytes, value->bytes.data, KEY_BYTES);
    return true;
}

static bool read_key_or_none(const struct row_value *value, bool *is_given, struct key *key)
{
    *is_given = value->type != VALUE_NULL;
    return !*is_given || read_key(value, key);
}

static bool read_word(const struct row_value *value, const struct row_words *words, unsigned *place)
{
    return is_bytes(value) && row_words_find(words, value->bytes, place);
}

static bool read_string(const struct row_value *value, char *string, size_t size)
{
    const size_t len = value->bytes.len;
    if (!is_bytes(value) || len >= size)
        return false;
    memcpy(string, value->bytes.data, len);
    string[len] = '\0';
    return memchr(string, '\0', len) == NULL;
}

static bool read_blob(const struct row_value *value, struct blob **blob)
{
    *blob = is_bytes(value) ? blob_new(value->bytes) : NULL;
    return *blob != NULL || value->type == VALUE_NULL;
}

static bool read_narrow(const struct row_value *value, enum column_type type, void *field)
{
    uint32_t number;
    if (type == COLUMN_BOOL && read_unsigned(value, 1, &number))
        *(bool *)field = number == 1;
    else if (type == COLUMN_U8 && read_unsigned(value, UINT8_MAX, &number))
        *(uint8_t *)field = (uint8_t)number;
    else if (type == COLUMN_U16 && read_unsigned(value, UINT16_MAX, &number))
        *(uint16_t *)field = (uint16_t)number;
    else
        return false;
    return true;
}

static bool read_value(const struct column *column, const struct row_value *value,
                       struct record *record, struct slice *client)
{
    void *const field = (char *)record + column->offset;
    switch (column->type) {
    case COLUMN_BOOL:
    case COLUMN_U8:
    case COLUMN_U16:
        return read_narrow(value, column->type, field);
    case COLUMN_U16_OR_NONE:
        return read_u16_or_none(value, (bool *)record + column->given_offset, field);
    case COLUMN_U32:
        return read_unsigned(value, UINT32_MAX, field);
    case COLUMN_U64:
    case COLUMN_DAY:
        return read_integer(value, field);
    case COLUMN_DATE:
    case COLUMN_TIME:
    case COLUMN_TIME_OR_0:
        return read_time(value, field);
    case COLUMN_KEY:
        return read_key(value, field);
    case COLUMN_KEY_OR_NONE:
        return read_key_or_none(value, (bool *)record + column->given_offset, field);
    case COLUMN_CLIENT:
        *client = value->bytes;
        return is_bytes(value);
    case COLUMN_WORD:
        return read_word(value, column->words, field);
    case COLUMN_STRING:
        return read_string(value, field, column->size);
    case COLUMN_TEXT:
    case COLUMN_BYTES:
        return read_blob(value, field);
    case COLUMN_STATS:
        return is_bytes(value) && row_json_read_stats(value->bytes, field);
    case COLUMN_TALLY:
        return is_bytes(value) && row_json_read_tally(value->bytes, field);
    case COLUMN_NOTES:
        return is_bytes(value) && row_json_read_notes(value->bytes, field);
    }
    UNREACHABLE();
}

bool row_from_values(const struct row_value *values, struct record *record, struct slice *client)
{
    const struct row_table *const table = &row_tables[record->kind];
    *client = SLICE_NONE;
    for (size_t i = 0; i < table->count; i++)
        if (!read_value(&table->columns[i], &values[i], record, client))
            return false;
    return true;
}
