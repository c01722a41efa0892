#include "store/row_table.h"

#include <stddef.h>

#define DAY_MS INT64_C(86400000)
/* The books show today and seven days before; one more is kept for clocks that disagree. */
#define DAYS_KEPT 9
/* An attempt's nonce is good for an hour; the other ten minutes are for clocks that disagree. */
#define ATTEMPT_KEEP_MS 4200000
/* A caller that waited for a solution may still fetch it when it is already too old for others. */
#define SOLUTION_KEEP_MS 60000

/* The offset of a field; does not compile if the field has another type. */
#define FIELD(wanted, member) \
    (offsetof(struct record, member) + _Generic(((struct record *)NULL)->member, wanted: (size_t)0))

#define PLAIN(text, kind, wanted, member) \
    {.name = (text), .type = (kind), .offset = FIELD(wanted, member)}
#define BOOL(text, member) PLAIN(text, COLUMN_BOOL, bool, member)
#define U8(text, member) PLAIN(text, COLUMN_U8, uint8_t, member)
#define U16(text, member) PLAIN(text, COLUMN_U16, uint16_t, member)
#define U32(text, member) PLAIN(text, COLUMN_U32, uint32_t, member)
#define U64(text, member) PLAIN(text, COLUMN_U64, uint64_t, member)
#define DAY(text, member) PLAIN(text, COLUMN_DAY, int64_t, member)
#define DATE(text, member) PLAIN(text, COLUMN_DATE, int64_t, member)
#define TIME(text, member) PLAIN(text, COLUMN_TIME, int64_t, member)
#define TIME_OR_0(text, member) PLAIN(text, COLUMN_TIME_OR_0, int64_t, member)
#define KEY(text, member) PLAIN(text, COLUMN_KEY, struct key, member)
#define KEY_OR_NONE(text, has_member, member) \
    {.name = (text),                          \
     .type = COLUMN_KEY_OR_NONE,              \
     .offset = FIELD(struct key, member),     \
     .given_offset = FIELD(bool, has_member)}
#define CLIENT(member) PLAIN("client", COLUMN_CLIENT, client_id, member)
#define TEXT(text, member) PLAIN(text, COLUMN_TEXT, struct blob *, member)
#define BYTES(text, member) PLAIN(text, COLUMN_BYTES, struct blob *, member)
#define U16_OR_NONE(text, has_member, member) \
    {.name = (text),                          \
     .type = COLUMN_U16_OR_NONE,              \
     .offset = FIELD(uint16_t, member),       \
     .given_offset = FIELD(bool, has_member)}
#define WORD(text, wanted, member)         \
    {.name = (text),                       \
     .type = COLUMN_WORD,                  \
     .offset = FIELD(enum wanted, member), \
     .words = &wanted##_words}
#define STRING(text, member)                    \
    {.name = (text),                            \
     .type = COLUMN_STRING,                     \
     .offset = offsetof(struct record, member), \
     .size = sizeof(((struct record *)NULL)->member)}

static const struct column day_columns[] = {
    DAY("day", day.day),
    PLAIN("counters", COLUMN_STATS, struct day_row, day),
};

static const struct column tally_columns[] = {
    DAY("day", tally.day),
    CLIENT(tally.client),
    WORD("type", type, tally.type),
    PLAIN("counters", COLUMN_TALLY, struct tally, tally.tally),
};

static const struct column spent_columns[] = {
    CLIENT(spent.client),
    DAY("day", spent.day),
    U64("spent", spent.spent),
};

static const struct column solution_columns[] = {
    U64("id", solution.id),
    U64("flight", solution.flight),
    U64("attempt", solution.attempt),
    KEY("key", solution.key),
    CLIENT(solution.client),
    WORD("type", type, solution.type),
    TIME("born", solution.born_wall_ms),
    TIME("expires", solution.expires_wall_ms),
    U64("solve_ms", solution.solve_ms),
    U32("handed", solution.handed),
    U16("attempts", solution.attempts),
    BOOL("kept", solution.is_kept),
    BOOL("shared", solution.is_shared),
    BOOL("bad", solution.is_bad),
    STRING("task", solution.task_id),
    BYTES("text", solution.text),
    BYTES("extra", solution.extra),
};

static const struct column flight_columns[] = {
    U64("id", flight.id),
    KEY("key", flight.key),
    CLIENT(flight.client),
    WORD("type", type, flight.type),
    WORD("reuse", reuse, flight.reuse),
    U8("priority", flight.priority),
    BOOL("one_time", flight.is_one_time),
    BOOL("rest", flight.wants_rest),
    BOOL("over", flight.is_over),
    WORD("class", error_class, flight.class),
    STRING("code", flight.code),
    TIME("created", flight.created_wall_ms),
    BYTES("params", flight.params),
    U16_OR_NONE("max_retries", flight.has_max_retries, flight.max_retries),
    U32("retry_delay", flight.retry_delay_ms),
    U16("attempts", flight.attempts),
    KEY_OR_NONE("idempotency", flight.has_idempotency, flight.idempotency),
    U8("adoptions", flight.adoptions),
};

static const struct column attempt_columns[] = {
    U64("name", attempt.name),
    U64("flight", attempt.flight),
    KEY("key", attempt.key),
    CLIENT(attempt.client),
    WORD("type", type, attempt.type),
    WORD("reuse", reuse, attempt.reuse),
    BOOL("one_time", attempt.is_one_time),
    BOOL("rest", attempt.wants_rest),
    BOOL("counted", attempt.is_counted),
    BOOL("closed", attempt.is_closed),
    BOOL("solved", attempt.is_solved),
    TIME("started", attempt.started_wall_ms),
    STRING("task", attempt.task_id),
    WORD("cause_class", error_class, attempt.cause_class),
    STRING("cause", attempt.cause),
    BYTES("partial", attempt.partial),
    U16("number", attempt.number),
    WORD("why", cause, attempt.why),
    BOOL("resent", attempt.is_resent),
};

static const struct column request_columns[] = {
    U64("id", request.id),
    CLIENT(request.client),
    U64("flight", request.flight),
    U64("solution", request.solution),
    WORD("state", request_state, request.state),
    WORD("source", source, request.source),
    WORD("class", error_class, request.class),
    STRING("code", request.code),
    U16("attempts", request.attempts),
    TIME("expires", request.expires_wall_ms),
    BYTES("pingback", request.pingback),
};

static const struct column idempotency_columns[] = {
    KEY("digest", idempotency.digest),           CLIENT(idempotency.client),
    KEY("fingerprint", idempotency.fingerprint), U64("flight", idempotency.flight),
    U64("solution", idempotency.solution),       TIME("expires", idempotency.expires_wall_ms),
};

static const struct column letter_columns[] = {
    U64("number", letter.number),
    KEY("key", letter.key),
    CLIENT(letter.client),
    WORD("type", type, letter.type),
    WORD("class", error_class, letter.class),
    WORD("reuse", reuse, letter.reuse),
    U8("priority", letter.priority),
    BOOL("one_time", letter.is_one_time),
    BOOL("rest", letter.wants_rest),
    DATE("created", letter.created_wall_ms),
    U32("told", letter.told),
    U16("replays", letter.replays),
    TEXT("error", letter.error),
    PLAIN("notes", COLUMN_NOTES, struct letter_row, letter),
    BYTES("params", letter.params),
    WORD("kind", letter_kind, letter.kind),
    U64("request", letter.request),
    BYTES("pingback", letter.pingback),
    BYTES("text", letter.text),
    STRING("task", letter.task_id),
    BYTES("extra", letter.extra),
    TIME_OR_0("fresh", letter.fresh_wall_ms),
    U16("retries", letter.retries),
};

#define TABLE(table, keys)                                           \
    .name = #table, .columns = table##_columns, .key_count = (keys), \
    .count = sizeof(table##_columns) / sizeof(table##_columns[0])
#define OLD_DAYS {.column = "day", .unit_ms = DAY_MS, .keep = DAYS_KEPT}

const struct row_table row_tables[RECORD_KIND_COUNT] = {
    [RECORD_DAY] = {TABLE(day, 1), .expiry = OLD_DAYS},
    [RECORD_TALLY] = {TABLE(tally, 3), .expiry = OLD_DAYS},
    [RECORD_SPENT] = {TABLE(spent, 1), .expiry = OLD_DAYS},
    [RECORD_SOLUTION] = {TABLE(solution, 1),
                         .expiry = {.column = "expires", .unit_ms = 1, .keep = SOLUTION_KEEP_MS}},
    [RECORD_FLIGHT] = {TABLE(flight, 1)},
    /* An open attempt whose flight still exists may be paid for, however old it is. */
    [RECORD_ATTEMPT] = {TABLE(attempt, 1),
                        .expiry = {.column = "started",
                                   .unit_ms = 1,
                                   .keep = ATTEMPT_KEEP_MS,
                                   .condition = "closed = 1 OR NOT EXISTS (SELECT 1 FROM flight"
                                                " WHERE flight.id = attempt.flight)"}},
    [RECORD_REQUEST] = {TABLE(request, 1),
                        .expiry = {.column = "expires",
                                   .unit_ms = 1,
                                   .condition = "state IN ('solved', 'failed')"}},
    [RECORD_IDEMPOTENCY] = {TABLE(idempotency, 1), .expiry = {.column = "expires", .unit_ms = 1}},
    [RECORD_LETTER] = {TABLE(letter, 1)},
};

int64_t row_expired_until(const struct row_expiry *expiry, int64_t wall_ms)
{
    return wall_ms / expiry->unit_ms - expiry->keep;
}

int64_t row_time_bounded(int64_t by_ms)
{
    if (by_ms > ROW_TIME_MAX)
        return ROW_TIME_MAX;
    return by_ms < -ROW_TIME_MAX ? -ROW_TIME_MAX : by_ms;
}

client_id *row_client(struct record *record)
{
    const struct row_table *const table = &row_tables[record->kind];
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].type == COLUMN_CLIENT)
            return (client_id *)(void *)((char *)record + table->columns[i].offset);
    return NULL;
}
