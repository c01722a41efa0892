/* Bodies of the JSON API, the vendor's dialect and the metrics: whatever the engine may say, the output is JSON (or
 * exposition text), and the strings in it are the ones that went in.
 *
 * Input: numbers for the fields of what the engine says, then text for its strings. */
#include "same.h"

#include "proto/api.h"
#include "proto/api_letters.h"
#include "proto/api_pools.h"
#include "proto/api_shadow.h"
#include "proto/api_stats.h"
#include "proto/dialect_write.h"
#include "proto/form.h"
#include "proto/http_status.h"
#include "proto/metrics.h"
#include "proto/pack.h"

#include <solvegate/engine.h>
#include <solvegate/words.h>

#include <sodium.h>
#include <stdlib.h>

#define OUT_CAP ((size_t)1 << 22)
#define VIEWS_MAX 3
#define NOTES_SHOWN 3
#define SCOPE_CLIENTS 2
/* The year 9999: what a clock can say. */
#define WALL_MAX_MS UINT64_C(253402300799999)

static struct buf out;

static void check_json(void)
{
    HOLDS(!out.is_full && json_is_valid(buf_slice(&out)));
    buf_reset(&out);
}

/* The text's printable start as a C string, as codes and ids always are. */
static void take_word(struct input *input, char *word, size_t room)
{
    const struct slice text = input_take(input, input_below(input, (unsigned)room));
    size_t len = 0;
    while (len < text.len && text.data[len] > ' ' && text.data[len] <= '~')
        len++;
    memcpy(word, text.data, len);
    word[len] = '\0';
}

static struct blob *take_blob(struct input *input)
{
    return blob_new(input_take(input, input_byte(input)));
}

static int64_t take_wall_ms(struct input *input)
{
    return (int64_t)(input_number(input, 6) % WALL_MAX_MS);
}

/* Letters, digits, '_', '-' and '.': the configuration takes no other names. */
static const char *client_name(void *context, client_id client)
{
    (void)context;
    return client % 2 == 0 ? "crawler" : "ops_2.team-b";
}

static const struct api_names names = {.client_name = client_name};

/* ---- answers ----------------------------------------------------------------------------- */

static void check_solved(const struct answer *answer, struct slice text)
{
    struct buf meant;
    buf_init(&meant, OUT_CAP);
    utf8_repair(text, &meant);
    api_write_answer(&out, answer);
    HOLDS(json_has_string(buf_slice(&out), "solution", buf_slice(&meant)));
    check_json();
    dialect_write_result(&out, true, answer, SLICE_OF("0.5"));
    HOLDS(json_has_string(buf_slice(&out), "request", buf_slice(&meant)));
    check_json();
    dialect_write_result(&out, false, answer, SLICE_NONE);
    HOLDS(slice_starts_with(buf_slice(&out), SLICE_OF("OK|")) && out.len == text.len + 3);
    buf_reset(&out);
    dialect_write_result(&out, false, answer, SLICE_OF("0.5"));
    HOLDS(out.len == text.len + 7);
    buf_reset(&out);
    buf_close(&meant);
}

static void check_problem(const struct answer *answer)
{
    struct problem problem;
    struct buf scratch;
    buf_init(&scratch, 4096);
    api_problem_of(answer, &scratch, &problem);
    HOLDS(problem.status >= 400 && problem.status < 600 && problem.detail.len > 0);
    HOLDS(problem.status != 503 || problem.retry_after_ms > 0);
    HOLDS(strcmp(http_status_text(problem.status), "Error") != 0);
    api_write_problem(&out, &problem);
    HOLDS(json_has_string(buf_slice(&out), "code", slice_from(problem.code)));
    check_json();
    buf_close(&scratch);
}

static void check_answer(struct input *input)
{
    struct answer answer = {
        .id = input_number(input, 6),
        .refusal = (enum refusal)input_below(input, REFUSAL_COUNT),
        .state = (enum request_state)input_below(input, REQUEST_FAILED + 1),
        .source = (enum source)input_below(input, SOURCE_COUNT),
        .is_renewed = input_flag(input),
        .age_ms = input_number(input, 3),
        .expires_in_ms = input_number(input, 8),
        .attempts = input_byte(input),
        .class = (enum error_class)input_below(input, CLASS_COUNT),
        .retry_after_ms = (uint32_t)input_number(input, 2),
        .text = NULL,
    };
    take_word(input, answer.code, sizeof(answer.code));
    take_word(input, answer.task_id, sizeof(answer.task_id));
    const bool is_solved = answer.refusal == REFUSAL_NONE && answer.state == REQUEST_SOLVED;
    answer.text = is_solved ? take_blob(input) : NULL;
    answer.extra = is_solved && input_flag(input) ? blob_new(SLICE_OF("{\"a\":[1]}")) : NULL;
    if (is_solved)
        check_solved(&answer, blob_slice(answer.text));
    else if (answer.refusal != REFUSAL_NONE || answer.state == REQUEST_FAILED)
        check_problem(&answer);
    else
        api_write_answer(&out, &answer);
    buf_reset(&out);
    dialect_write_result(&out, true, &answer, SLICE_NONE);
    check_json();
    dialect_write_part(&out, &answer);
    buf_reset(&out);
    answer_close(&answer);
}

/* ---- lists ------------------------------------------------------------------------------- */

static void check_flights(struct input *input)
{
    static const char *const phases[] = {"queued", "submitting", "ambiguous", "solving"};
    struct flight_view views[VIEWS_MAX];
    const size_t count = input_below(input, VIEWS_MAX + 1);
    for (size_t i = 0; i < count; i++) {
        views[i] = (struct flight_view){
            .phase = phases[input_below(input, 4)],
            .client = input_byte(input),
            .type = (enum type)input_below(input, TYPE_COUNT),
            .reuse = (enum reuse)input_below(input, REUSE_NONE + 1),
            .requests = input_byte(input),
            .age_ms = input_number(input, 4),
            .deadline_in_ms = input_number(input, 3),
        };
        views[i].key.bytes[0] = input_byte(input);
        take_word(input, views[i].task_id, TASK_ID_MAX);
        take_word(input, views[i].last_error, ERROR_CODE_MAX);
    }
    api_write_flights(&out, views, count, count, input_byte(input), &names, NULL);
    check_json();
}

static void check_pools(struct input *input)
{
    static const struct pool_label labels[VIEWS_MAX] = {
        {"a \"pool\"", "turnstile", "turnstile"}, {"b", "x", "default"}, {"", "", ""}};
    struct pool_view views[VIEWS_MAX];
    const size_t count = input_below(input, VIEWS_MAX + 1);
    for (size_t i = 0; i < count; i++)
        views[i] = (struct pool_view){.size = input_byte(input),
                                      .ready = input_byte(input),
                                      .solving = input_byte(input),
                                      .is_asleep = input_flag(input),
                                      .served = input_number(input, 8)};
    api_write_pools(&out, views, labels, count);
    check_json();
}

static struct blob *take_params(struct input *input)
{
    struct params params;
    params_init(&params, PARAMS_CAP);
    /* Half of a form is read, too; bytes that were never packed are for a damaged store. */
    const struct slice form = input_take(input, input_byte(input));
    const bool is_damaged = input_below(input, 8) == 7;
    (void)(params_add_form(&params, form) == 0);
    struct blob *packed = is_damaged ? blob_new(form) : params_pack(&params);
    params_close(&params);
    return packed;
}

static void check_letter(struct input *input)
{
    struct attempt_note notes[NOTES_SHOWN];
    const size_t count = input_below(input, NOTES_SHOWN + 1);
    for (size_t i = 0; i < count; i++)
        notes[i] = (struct attempt_note){
            .wall_ms = take_wall_ms(input),
            .took_ms = (uint32_t)input_number(input, 3),
            .class = (enum error_class)input_below(input, CLASS_COUNT),
            .code = take_blob(input),
            .task_id = input_flag(input) ? take_blob(input) : NULL,
        };
    struct blob *params = take_params(input);
    struct blob *code = take_blob(input);
    struct blob *text = take_blob(input);
    const struct letter_view view = {
        .kind = (enum letter_kind)input_below(input, LETTER_KIND_COUNT),
        .request = input_byte(input),
        .pingback = input_flag(input) ? SLICE_OF("https://a.example/?x=\"1") : SLICE_NONE,
        .text = input_flag(input) ? blob_slice(text) : SLICE_NONE,
        .task_id = input_flag(input) ? SLICE_OF("T1") : SLICE_NONE,
        .number = input_number(input, 4),
        .client = input_byte(input),
        .type = (enum type)input_below(input, TYPE_COUNT),
        .class = (enum error_class)input_below(input, CLASS_COUNT),
        .code = blob_slice(code),
        .created_wall_ms = take_wall_ms(input),
        .expires_wall_ms = take_wall_ms(input),
        .told = input_byte(input),
        .is_replaying = input_flag(input),
        .params = params,
        .notes = notes,
        .note_count = count,
    };
    const struct letter_place place = {
        .client = "ann", .node = input_flag(input) ? "left" : NULL, .is_here = input_flag(input)};
    api_write_letter(&out, &view, &place, true);
    check_json();
    api_write_letters(&out, &view, &place, 1, 1, input_byte(input));
    check_json();
    for (size_t i = 0; i < count; i++) {
        blob_unref(notes[i].code);
        blob_unref(notes[i].task_id);
    }
    blob_unref(params);
    blob_unref(code);
    blob_unref(text);
}

/* The caller's secrets are in no letter that a person reads: neither the proxy's password nor cookies. */
static void check_secrets(struct input *input)
{
    struct params params;
    struct buf proxy;
    params_init(&params, PARAMS_CAP);
    buf_init(&proxy, 4096);
    const bool is_url = input_flag(input);
    buf_addf(&proxy, is_url ? "user:SeSaMe@host%u:80" : "host%u:80:user:SeSaMe",
             (unsigned)input_byte(input));
    params.items[0] = (struct param){.name = SLICE_OF("proxy"), .value = buf_slice(&proxy)};
    params.items[1] = (struct param){.name = SLICE_OF("cookies"), .value = SLICE_OF("a=SeSaMe")};
    params.count = 2;
    struct blob *packed = params_pack(&params);
    const struct letter_view view = {.params = packed, .code = SLICE_OF("E")};
    const struct letter_place place = {.client = "ann"};
    api_write_letter(&out, &view, &place, true);
    HOLDS(memmem(out.data, out.len, "SeSaMe", 6) == NULL);
    HOLDS(memmem(out.data, out.len, "host", 4) != NULL);
    check_json();
    blob_unref(packed);
    buf_close(&proxy);
    params_close(&params);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void check_exposition(struct slice text)
{
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '\n')
            continue;
        const struct slice line = {.data = text.data + start, .len = i - start};
        HOLDS(slice_is_printable(line));
        HOLDS(slice_starts_with(line, SLICE_OF("# ")) ||
              slice_starts_with(line, SLICE_OF("solvegate_")));
        start = i + 1;
    }
    HOLDS(start == text.len);
}

/* In two pieces. */
static void write_page(struct buf *to, const char *name, const struct stats_page *page,
                       const struct books *books, const struct unknown_errors *unknown,
                       const struct stats_scope *scope)
{
    const uint16_t half = books->client_count / 2;
    api_stats_open_page(to, name, page);
    api_stats_clients(to, books, 0, half, scope);
    api_stats_clients(to, books, half, books->client_count, scope);
    api_stats_close_page(to, books, unknown, scope);
}

static bool is_shadow(void *context, client_id client)
{
    (void)context;
    return client % 2 == 0;
}

static void write_budgets(struct input *input)
{
    api_stats_open_budgets(&out);
    for (client_id client = (client_id)input_below(input, SCOPE_CLIENTS + 1); client > 0;
         client--) {
        const struct budget_view budget = {.limit = input_number(input, 6),
                                           .used = input_number(input, 6),
                                           .reserved = input_number(input, 5),
                                           .left = input_number(input, 6)};
        api_stats_budget(&out, client_name(NULL, client), &budget);
    }
}

static void check_stats(struct input *input)
{
    struct stats stats = {.requests = input_number(input, 6),
                          .answered_api = input_number(input, 5),
                          .answered_dedup_cache = input_number(input, 5),
                          .cache_hits = input_number(input, 5),
                          .cache_misses = input_number(input, 5)};
    struct gauges gauges = {.waiting = input_byte(input),
                            .breaker = (enum breaker_state)input_below(input, 3)};
    take_word(input, gauges.breaker_cause, ERROR_CODE_MAX);
    struct tally tallies[SCOPE_CLIENTS * TYPE_COUNT] = {{.requests = 0}};
    tallies[input_below(input, SCOPE_CLIENTS * TYPE_COUNT)].requests = input_number(input, 5);
    tallies[input_below(input, SCOPE_CLIENTS * TYPE_COUNT)].spent_micro = input_number(input, 5);
    tallies[input_below(input, SCOPE_CLIENTS * TYPE_COUNT)].shadow_paid = input_number(input, 5);
    struct unknown_errors unknown = {.count = 1, .other_times = input_number(input, 5)};
    take_word(input, unknown.items[0].name, ERROR_CODE_MAX);
    struct books books = {.client_count = 0};
    books_sum(&books, tallies, SCOPE_CLIENTS);
    const struct stats_page page = {
        .is_day = true, .day = (int64_t)input_number(input, 2), .stats = &stats};
    const struct stats_scope scope = {.names = &names,
                                      .client_count = SCOPE_CLIENTS,
                                      .has_price = input_flag(input),
                                      .has_shadow = input_flag(input)};
    const struct stats_service service = {.version = "0", .store = "memory"};
    api_stats_open(&out, &gauges);
    write_page(&out, "total", &page, &books, &unknown, &scope);
    write_page(&out, "today", &page, &books, NULL, &scope);
    api_stats_open_days(&out);
    for (unsigned days = input_below(input, 3); days > 0; days--)
        write_page(&out, NULL, &page, &books, NULL, &scope);
    const struct repeat_view repeat = {.host =
                                           input_flag(input) ? SLICE_OF("a.example") : SLICE_NONE,
                                       .type = (enum type)input_below(input, TYPE_COUNT),
                                       .times = 2 + input_number(input, 4),
                                       .uncertain = input_below(input, 2)};
    const struct target_view target = {.host = SLICE_OF("b.example"),
                                       .own_bad = input_number(input, 5),
                                       .advice = (enum reuse)input_below(input, 3)};
    const struct shadow_report shadow = {
        .is_shadow = is_shadow,
        .day = {.paid = input_number(input, 5), .duplicates = input_number(input, 4)},
        .repeats = &repeat,
        .repeat_count = input_below(input, 2),
        .targets = &target,
        .target_count = input_below(input, 2),
    };
    write_budgets(input);
    api_stats_close(&out, &service, &shadow, &scope);
    check_json();
    metrics_write_engine(&out, &stats, &gauges);
    size_t at = 0;
    while (metrics_write_books(&out, &books, &at, 1 + input_below(input, 5), &scope))
        HOLDS(at > 0);
    books_close(&books);
    metrics_write_unknown_errors(&out, &unknown);
    check_exposition(buf_slice(&out));
    buf_reset(&out);
}

static void check_explanation(struct input *input)
{
    struct identity identity = {.type = (enum type)input_below(input, TYPE_COUNT),
                                .is_one_time = input_flag(input)};
    const struct ask ask = {.reuse = (enum reuse)input_below(input, REUSE_NONE + 1),
                            .max_age_ms = input_flag(input) ? UINT32_MAX : 1234};
    const struct outlook outlook = {.refusal = (enum refusal)input_below(input, REFUSAL_COUNT),
                                    .would_hit = input_flag(input),
                                    .would_join = input_flag(input),
                                    .source = (enum source)input_below(input, SOURCE_COUNT)};
    identity.method = input_take(input, input_byte(input));
    identity.fields[0].name = input_take(input, 1 + input_byte(input));
    identity.fields[0].value = input_take(input, input->len);
    identity.field_count = identity.fields[0].name.len > 0;
    identity.ignored[0] = identity.fields[0].name;
    identity.ignored_count = 1;
    api_write_explanation(&out, &identity, &ask, &outlook);
    check_json();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    HOLDS(sodium_init() >= 0);
    buf_init(&out, OUT_CAP);
    dialect_write_ok(&out, input_flag(&input), SLICE_OF("1"));
    buf_reset(&out);
    /* One of them per input, so that libFuzzer can tell which bytes matter. */
    switch (input_below(&input, 7)) {
    case 0:
        check_answer(&input);
        break;
    case 1:
        check_flights(&input);
        break;
    case 2:
        check_letter(&input);
        break;
    case 3:
        check_secrets(&input);
        break;
    case 4:
        check_stats(&input);
        break;
    case 5:
        check_pools(&input);
        break;
    default:
        check_explanation(&input);
        break;
    }
    buf_close(&out);
    return 0;
}
