#include "store/redis/redis_names.h"

#include "base/assert.h"
#include "store/redis/redis_call.h"

#include <stdio.h>
#include <stdlib.h>

/* Names of one page: some hundred kilobytes. */
#define PAGE 8192

static void add_bytes(struct redis_names *names, struct slice bytes)
{
    /* The NUL behind each name ends its number. */
    const size_t needed = names->len + bytes.len + 1;
    if (names->bytes == NULL || needed > names->bytes_room) {
        names->bytes_room = 2 * needed;
        char *const larger = realloc(names->bytes, names->bytes_room);
        ASSERT(larger != NULL);
        names->bytes = larger;
    }
    memcpy(names->bytes + names->len, bytes.data, bytes.len);
    names->bytes[names->len + bytes.len] = '\0';
    names->len = needed;
}

/* Numbers are ordered as every driver orders them: as if they were signed. */
static int64_t number_of(enum record_kind kind, const char *name)
{
    const enum column_type type = row_tables[kind].columns[0].type;
    if (type == COLUMN_U64)
        return (int64_t)strtoull(name, NULL, 10);
    return column_is_integer(type) ? strtoll(name, NULL, 10) : 0;
}

static void add(struct redis_names *names, enum record_kind kind, struct slice name)
{
    if (names->count == names->room) {
        names->room = names->room == 0 ? PAGE : 2 * names->room;
        struct redis_name *const more = realloc(names->all, names->room * sizeof *more);
        ASSERT(more != NULL);
        names->all = more;
    }
    const size_t at = names->len;
    add_bytes(names, name);
    names->all[names->count++] = (struct redis_name){
        .number = number_of(kind, names->bytes + at), .at = at, .len = name.len};
}

/* ---- order ------------------------------------------------------------------------------- */

static int compare_bytes(struct slice a, struct slice b)
{
    const int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* The part up to the last colon: a client's name may contain one, the type behind it never does. */
static struct slice without_last(struct slice name)
{
    const char *const colon = memrchr(name.data, ':', name.len);
    return (struct slice){.data = name.data,
                          .len = colon == NULL ? name.len : (size_t)(colon - name.data)};
}

static int compare(const void *left, const void *right, void *context)
{
    const struct redis_names *const names = context;
    const struct redis_name *const a = left, *const b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    const struct slice a_name = {.data = names->bytes + a->at, .len = a->len};
    const struct slice b_name = {.data = names->bytes + b->at, .len = b->len};
    const int order =
        names->have_types ? compare_bytes(without_last(a_name), without_last(b_name)) : 0;
    return order != 0 ? order : compare_bytes(a_name, b_name);
}

struct slice names_at(const struct redis_names *names, size_t place)
{
    return (struct slice){.data = names->bytes + names->all[place].at,
                          .len = names->all[place].len};
}

bool names_have(const struct redis_names *names, int64_t number)
{
    size_t low = 0, high = names->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (names->all[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && names->all[low].number == number;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* What somebody else put into the index is passed over. */
static enum store_result read_page(struct redis_store *store, const struct redis_key *index,
                                   enum record_kind kind, struct redis_names *names, size_t *from,
                                   bool *is_last)
{
    char first[32], last[32];
    struct redis_reply *page = NULL;
    const enum store_result result =
        ASK(store, &page, WORD_OF("ZRANGE"), call_key_slice(index),
            call_number(first, (int64_t)*from), call_number(last, (int64_t)*from + PAGE - 1));
    if (result != STORE_DONE)
        return result;
    const bool is_sound = page->type == REPLY_ARRAY && page->len <= PAGE;
    for (size_t i = 0; is_sound && i < page->len; i++)
        if (call_is_name(page->items[i]))
            add(names, kind, redis_reply_slice(page->items[i]));
    *is_last = is_sound && page->len < PAGE;
    *from += is_sound ? page->len : 0;
    redis_reply_free(page);
    return is_sound ? STORE_DONE : call_nonsense(store);
}

enum store_result names_read(struct redis_store *store, enum record_kind kind,
                             struct redis_names *names)
{
    const struct redis_key index = call_index(store, kind);
    return names_read_from(store, &index, kind, names);
}

enum store_result names_read_from(struct redis_store *store, const struct redis_key *index,
                                  enum record_kind kind, struct redis_names *names)
{
    bool is_last = false;
    size_t from = 0;
    enum store_result result = STORE_DONE;
    *names = (struct redis_names){.have_types = row_tables[kind].key_count > 1};
    while (result == STORE_DONE && !is_last)
        result = read_page(store, index, kind, names, &from, &is_last);
    if (result == STORE_DONE && names->count > 1)
        qsort_r(names->all, names->count, sizeof *names->all, compare, names);
    return result;
}

/* The same name may come twice while the server makes room for a set. */
static void drop_twins(struct redis_names *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++)
        if (kept == 0 || !slice_equals(names_at(names, i), names_at(names, kept - 1)))
            names->all[kept++] = names->all[i];
    names->count = kept;
}

/* "0" as the cursor is both the beginning and the end. */
static enum store_result scan_page(struct redis_store *store, const struct redis_key *set,
                                   struct redis_names *names, char cursor[32])
{
    char count[32];
    struct redis_reply *reply = NULL;
    const enum store_result result =
        ASK(store, &reply, WORD_OF("SSCAN"), call_key_slice(set), slice_from(cursor),
            WORD_OF("COUNT"), call_number(count, PAGE));
    if (result != STORE_DONE)
        return result;
    const struct redis_reply *const next = redis_reply_item(reply, 0);
    const struct redis_reply *const page = redis_reply_item(reply, 1);
    const bool is_sound = next != NULL && next->type == REPLY_STRING && next->len < 32 &&
                          page != NULL && page->type == REPLY_ARRAY;
    for (size_t i = 0; is_sound && i < page->len; i++)
        if (call_is_name(page->items[i]))
            add(names, RECORD_IDEMPOTENCY, redis_reply_slice(page->items[i]));
    if (is_sound)
        (void)snprintf(cursor, 32, "%s", next->bytes);
    redis_reply_free(reply);
    return is_sound ? STORE_DONE : call_nonsense(store);
}

enum store_result names_read_set(struct redis_store *store, const struct redis_key *set,
                                 struct redis_names *names)
{
    char cursor[32] = "0";
    *names = (struct redis_names){.count = 0};
    enum store_result result = scan_page(store, set, names, cursor);
    while (result == STORE_DONE && strcmp(cursor, "0") != 0)
        result = scan_page(store, set, names, cursor);
    if (result == STORE_DONE && names->count > 1)
        qsort_r(names->all, names->count, sizeof *names->all, compare, names);
    drop_twins(names);
    return result;
}

void names_close(struct redis_names *names)
{
    free(names->all);
    free(names->bytes);
    *names = (struct redis_names){.count = 0};
}

void names_ask_scores(struct redis_store *store, enum record_kind kind, const struct slice *names,
                      size_t count)
{
    const struct redis_key index = call_index(store, kind);
    struct slice *const words = malloc((count + 2) * sizeof *words);
    ASSERT(words != NULL);
    words[0] = WORD_OF("ZMSCORE");
    words[1] = call_key_slice(&index);
    memcpy(words + 2, names, count * sizeof *words);
    call_add(store, words, count + 2);
    free(words);
}
