#include "store/store_fact.h"

#include "proto/json_out.h"
#include "store/row_words.h"

#include <sodium.h>
#include <yyjson.h>

static const char *const outcomes[] = {
    [OUTCOME_NOT_SENT] = "not_sent",
    [OUTCOME_ACCEPTED] = "accepted",
    [OUTCOME_REJECTED] = "rejected",
    [OUTCOME_AMBIGUOUS] = "ambiguous",
    [OUTCOME_PENDING] = "pending",
    [OUTCOME_SOLVED] = "solved",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_UNHEARD] = "unheard",
    [OUTCOME_UNDELIVERABLE] = "undeliverable",
    [OUTCOME_WITHDRAWN] = "withdrawn",
};

/* A body without a kind is news: those were there first. */
static const char *const kinds[] = {[FACT_NEWS] = "news",
                                    [FACT_ERRAND] = "errand",
                                    [FACT_REPLY] = "reply",
                                    [FACT_BAD] = "bad",
                                    [FACT_TAKEN] = "taken"};
static const char *const verbs[] = {[ERRAND_REPORT_GOOD] = "report_good",
                                    [ERRAND_REPORT_BAD] = "report_bad",
                                    [ERRAND_DETACH] = "detach",
                                    [ERRAND_LETTERS] = "letters",
                                    [ERRAND_LOOK] = "look",
                                    [ERRAND_SHOW] = "show"};
static const char *const orders[] = {
    [LETTER_REPLAY] = "replay", [LETTER_CANCEL] = "cancel", [LETTER_DROP] = "drop"};
/* How an errand can end. */
static const enum refusal ends[] = {REFUSAL_NONE, REFUSAL_UNKNOWN_ID, REFUSAL_NOT_SOLVED,
                                    REFUSAL_FULL_REQUESTS, REFUSAL_STORE_AWAY};
static const char *const end_words[] = {"done", "unknown", "not_solved", "busy", "away"};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* In hexadecimal, since the vendor may write anything, also what is not UTF-8. */
static void add_text(struct buf *out, const char *name, const char *text)
{
    if (text[0] != '\0')
        json_hex(out, name, (const uint8_t *)text, strlen(text));
}

static bool read_text(yyjson_val *object, const char *name, char *text, size_t size)
{
    yyjson_val *const value = yyjson_obj_get(object, name);
    size_t count = 0;
    text[0] = '\0';
    if (value == NULL)
        return true;
    if (!yyjson_is_str(value) || sodium_hex2bin((uint8_t *)text, size - 1, yyjson_get_str(value),
                                                yyjson_get_len(value), NULL, &count, NULL) != 0)
        return false;
    text[count] = '\0';
    return strlen(text) == count;
}

static void add_news(struct buf *out, const struct vendor_result *result)
{
    json_string(out, "outcome", outcomes[result->outcome]);
    json_string(out, "class", error_class_words.name_at(result->class));
    add_text(out, "code", result->code);
    add_text(out, "task", result->task_id);
    if (result->is_short)
        json_bool(out, "short", true);
    if (result->retry_after_ms > 0)
        json_number(out, "retry_after", result->retry_after_ms);
}

/* Its client is the errand's. What is missing is not asked for. */
static void add_order(struct buf *out, const struct letter_order *order)
{
    const struct letter_filter *const filter = &order->filter;
    json_string(out, "order", orders[order->verb]);
    if (filter->class < CLASS_COUNT)
        json_string(out, "class", error_class_words.name_at(filter->class));
    if (filter->type < TYPE_COUNT)
        json_string(out, "type", type_words.name_at(filter->type));
    add_text(out, "code", filter->code);
    if (filter->has_client)
        json_bool(out, "has_client", true);
    if (filter->until_wall_ms > 0)
        json_number(out, "until", (uint64_t)filter->until_wall_ms);
    if (order->has_into)
        json_hex(out, "into", order->into_key.bytes, KEY_BYTES);
}

static void add_show(struct buf *out, const struct show *show)
{
    json_hex(out, "key", show->prefix.key.bytes, KEY_BYTES);
    json_number(out, "digits", show->prefix.digits);
    if (show->sees_all)
        json_bool(out, "sees_all", true);
}

static void add_errand(struct buf *out, const struct errand *errand)
{
    size_t end = 0;
    while (end + 1 < COUNT_OF(ends) && ends[end] != errand->refusal)
        end++;
    json_string(out, "verb", verbs[errand->verb]);
    json_number(out, "from", errand->from);
    json_number(out, "to", errand->to);
    json_number(out, "id", errand->id);
    json_number(out, "caller", errand->caller);
    json_number(out, "ticket", errand->ticket);
    json_string(out, "end", end_words[end]);
    if (errand->count > 0)
        json_number(out, "count", errand->count);
}

static bool has_sighting(const struct fact *fact)
{
    return fact->kind == FACT_REPLY && fact->errand.verb == ERRAND_LOOK &&
           fact->errand.refusal == REFUSAL_NONE;
}

static void add_sighting(struct buf *out, const struct fact *fact)
{
    const struct sighting *const sighting = &fact->sighting;
    json_string(out, "state", request_state_words.name_at(sighting->state));
    json_string(out, "source", source_words.name_at(sighting->source));
    json_string(out, "type", type_words.name_at(sighting->type));
    json_string(out, "class", error_class_words.name_at(fact->result.class));
    add_text(out, "code", fact->result.code);
    add_text(out, "task", fact->result.task_id);
    if (sighting->is_single)
        json_bool(out, "single", true);
    json_number(out, "attempts", sighting->attempts);
    json_number(out, "born", (uint64_t)sighting->born_wall_ms);
    json_number(out, "expires", (uint64_t)sighting->expires_wall_ms);
    json_number(out, "solve", sighting->solve_ms);
}

void fact_add_body(struct buf *out, const struct fact *fact)
{
    json_open(out, '{');
    if (fact->kind != FACT_NEWS)
        json_string(out, "kind", kinds[fact->kind]);
    if (fact->kind == FACT_NEWS) {
        add_news(out, &fact->result);
    } else if (fact->kind == FACT_BAD) {
        json_hex(out, "key", fact->bad.key.bytes, KEY_BYTES);
        json_number(out, "attempt", fact->bad.attempt);
    } else if (fact->kind == FACT_TAKEN) {
        json_hex(out, "key", fact->taken.key.bytes, KEY_BYTES);
        json_number(out, "solution", fact->taken.solution);
    } else {
        add_errand(out, &fact->errand);
        if (fact->kind == FACT_ERRAND && fact->errand.verb == ERRAND_LETTERS)
            add_order(out, &fact->letters);
        if (fact->kind == FACT_ERRAND && fact->errand.verb == ERRAND_SHOW)
            add_show(out, &fact->show);
        if (has_sighting(fact))
            add_sighting(out, fact);
    }
    json_close(out, '}');
}

static bool read_word(yyjson_val *object, const char *name, const char *const *words, size_t count,
                      unsigned *place)
{
    yyjson_val *const value = yyjson_obj_get(object, name);
    for (unsigned i = 0; i < count; i++)
        if (yyjson_equals_str(value, words[i])) {
            *place = i;
            return true;
        }
    return false;
}

static bool read_row_word(yyjson_val *object, const char *name, const struct row_words *words,
                          unsigned *place)
{
    yyjson_val *const value = yyjson_obj_get(object, name);
    return yyjson_is_str(value) &&
           row_words_find(
               words, (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)},
               place);
}

static bool read_news(yyjson_val *object, struct vendor_result *result)
{
    unsigned outcome;
    unsigned class;
    if (!read_word(object, "outcome", outcomes, COUNT_OF(outcomes), &outcome) ||
        !read_row_word(object, "class", &error_class_words, &class) ||
        !read_text(object, "code", result->code, sizeof result->code) ||
        !read_text(object, "task", result->task_id, sizeof result->task_id))
        return false;
    result->outcome = (enum outcome)outcome;
    result->class = (enum error_class) class;
    result->is_short = yyjson_get_bool(yyjson_obj_get(object, "short"));
    result->retry_after_ms = (uint32_t)yyjson_get_uint(yyjson_obj_get(object, "retry_after"));
    return true;
}

static bool read_errand(yyjson_val *object, struct errand *errand)
{
    unsigned verb;
    unsigned end;
    if (!read_word(object, "verb", verbs, COUNT_OF(verbs), &verb) ||
        !read_word(object, "end", end_words, COUNT_OF(end_words), &end))
        return false;
    errand->verb = (enum errand_verb)verb;
    errand->refusal = ends[end];
    errand->from = (uint16_t)yyjson_get_uint(yyjson_obj_get(object, "from"));
    errand->to = (uint16_t)yyjson_get_uint(yyjson_obj_get(object, "to"));
    errand->id = yyjson_get_uint(yyjson_obj_get(object, "id"));
    errand->caller = yyjson_get_uint(yyjson_obj_get(object, "caller"));
    errand->ticket = yyjson_get_uint(yyjson_obj_get(object, "ticket"));
    errand->count = (uint32_t)yyjson_get_uint(yyjson_obj_get(object, "count"));
    return true;
}

static bool read_key(yyjson_val *value, struct key *key)
{
    size_t count = 0;
    return yyjson_is_str(value) &&
           sodium_hex2bin(key->bytes, KEY_BYTES, yyjson_get_str(value), yyjson_get_len(value), NULL,
                          &count, NULL) == 0 &&
           count == KEY_BYTES;
}

/* A filter that makes no sense must not become "all letters". */
static bool read_order(yyjson_val *object, struct fact *fact)
{
    struct letter_order *const order = &fact->letters;
    struct letter_filter *const filter = &order->filter;
    yyjson_val *const into = yyjson_obj_get(object, "into");
    unsigned verb;
    unsigned class = CLASS_COUNT;
    unsigned type = TYPE_COUNT;
    *order = (struct letter_order){.has_into = into != NULL};
    if (!read_word(object, "order", orders, COUNT_OF(orders), &verb) ||
        !read_text(object, "code", filter->code, sizeof filter->code) ||
        (yyjson_obj_get(object, "class") != NULL &&
         !read_row_word(object, "class", &error_class_words, &class)) ||
        (yyjson_obj_get(object, "type") != NULL &&
         !read_row_word(object, "type", &type_words, &type)) ||
        (into != NULL && !read_key(into, &order->into_key)))
        return false;
    order->verb = (enum letter_verb)verb;
    filter->number = fact->errand.id;
    filter->class = (enum error_class) class;
    filter->type = (enum type)type;
    filter->has_client = yyjson_get_bool(yyjson_obj_get(object, "has_client"));
    filter->until_wall_ms = (int64_t)yyjson_get_uint(yyjson_obj_get(object, "until"));
    return true;
}

static bool read_show(yyjson_val *object, struct show *show)
{
    *show = (struct show){.sees_all = yyjson_get_bool(yyjson_obj_get(object, "sees_all"))};
    show->prefix.digits = yyjson_get_uint(yyjson_obj_get(object, "digits"));
    return read_key(yyjson_obj_get(object, "key"), &show->prefix.key) &&
           show->prefix.digits <= 2 * (size_t)KEY_BYTES;
}

static bool read_sighting(yyjson_val *object, struct fact *fact)
{
    struct sighting *const sighting = &fact->sighting;
    unsigned state;
    unsigned source;
    unsigned type;
    unsigned class;
    if (!read_row_word(object, "state", &request_state_words, &state) ||
        !read_row_word(object, "source", &source_words, &source) ||
        !read_row_word(object, "type", &type_words, &type) ||
        !read_row_word(object, "class", &error_class_words, &class) ||
        !read_text(object, "code", fact->result.code, sizeof fact->result.code) ||
        !read_text(object, "task", fact->result.task_id, sizeof fact->result.task_id))
        return false;
    *sighting = (struct sighting){
        .state = (enum request_state)state, .source = (enum source)source, .type = (enum type)type};
    fact->result.class = (enum error_class) class;
    sighting->is_single = yyjson_get_bool(yyjson_obj_get(object, "single"));
    sighting->attempts = (uint16_t)yyjson_get_uint(yyjson_obj_get(object, "attempts"));
    sighting->born_wall_ms = (int64_t)yyjson_get_uint(yyjson_obj_get(object, "born"));
    sighting->expires_wall_ms = (int64_t)yyjson_get_uint(yyjson_obj_get(object, "expires"));
    sighting->solve_ms = yyjson_get_uint(yyjson_obj_get(object, "solve"));
    return true;
}

static bool read_bad(yyjson_val *object, struct bad_solution *bad)
{
    bad->attempt = yyjson_get_uint(yyjson_obj_get(object, "attempt"));
    return read_key(yyjson_obj_get(object, "key"), &bad->key);
}

static bool read_taken(yyjson_val *object, struct taken_solution *taken)
{
    taken->solution = yyjson_get_uint(yyjson_obj_get(object, "solution"));
    return read_key(yyjson_obj_get(object, "key"), &taken->key);
}

bool fact_read_body(struct slice body, struct fact *fact)
{
    yyjson_doc *const doc = yyjson_read(body.data, body.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(doc);
    unsigned kind = FACT_NEWS;
    bool is_sound = yyjson_is_obj(object);
    if (is_sound && yyjson_obj_get(object, "kind") != NULL)
        is_sound = read_word(object, "kind", kinds, COUNT_OF(kinds), &kind);
    fact->kind = (enum fact_kind)kind;
    if (is_sound && kind == FACT_NEWS)
        is_sound = read_news(object, &fact->result);
    else if (is_sound && kind == FACT_BAD)
        is_sound = read_bad(object, &fact->bad);
    else if (is_sound && kind == FACT_TAKEN)
        is_sound = read_taken(object, &fact->taken);
    else if (is_sound)
        is_sound = read_errand(object, &fact->errand);
    if (is_sound && kind == FACT_ERRAND && fact->errand.verb == ERRAND_LETTERS)
        is_sound = read_order(object, fact);
    if (is_sound && kind == FACT_ERRAND && fact->errand.verb == ERRAND_SHOW)
        is_sound = read_show(object, &fact->show);
    if (is_sound && has_sighting(fact))
        is_sound = read_sighting(object, fact);
    yyjson_doc_free(doc);
    return is_sound;
}

bool fact_is_about_letter(const struct fact *fact)
{
    return fact->kind == FACT_ERRAND && fact->errand.verb == ERRAND_LETTERS && fact->errand.id != 0;
}

uint64_t fact_subject(const struct fact *fact)
{
    if (fact_is_about_letter(fact))
        return -fact->errand.id;
    if (fact->kind == FACT_NEWS)
        return fact->result.attempt;
    return fact->kind == FACT_ERRAND ? fact->errand.id : 0;
}

void fact_set_subject(struct fact *fact, uint64_t subject)
{
    if (fact->kind == FACT_NEWS)
        fact->result.attempt = subject;
}

void fact_close(struct fact *fact)
{
    blob_unref(fact->result.text);
    blob_unref(fact->result.extra);
    fact->result.text = fact->result.extra = NULL;
}
