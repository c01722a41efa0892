/* The vendor's dialect: workers talk to us exactly as they would to CaptchaAI (docs/design.md 6.1). */
#include "doors/door_vendor.h"

#include "doors/reply.h"
#include "doors/verbs.h"
#include "proto/dialect_write.h"
#include "proto/form.h"

#include <solvegate/view.h>

/* The vendor's own clients never ask for more in one call; more is a mistake or an attack. */
#define IDS_MAX 100

static void say(struct gate *gate, caller_id caller, const struct visit *visit, const char *word)
{
    reply_dialect_word(gate, caller, visit, slice_from(word));
}

static bool vendor_read(struct gate *gate, const struct http_request *request, struct visit *visit,
                        struct slice *key, struct mistake *mistake)
{
    const bool is_read = intake_read(gate, request, mistake);
    /* The form of the reply follows this request, even if the request is invalid. */
    visit->is_json = params_flag(&gate->params, SLICE_OF("json"));
    visit->has_cors = params_flag(&gate->params, SLICE_OF("header_acao"));
    *key = params_value(&gate->params, SLICE_OF("key"));
    return is_read;
}

/* ---- in.php, solve.php ------------------------------------------------------------------- */

static bool finish_submit(struct ask *ask, struct mistake *mistake)
{
    (void)mistake;
    ask->is_id_told = true;
    ask->hold_ms = 0;
    return true;
}

void door_in(struct gate *gate, const struct http_request *request, struct visit *visit,
             uint64_t number)
{
    (void)number;
    visit->verb = VERB_ASK;
    verb_ask(gate, request, visit, finish_submit);
}

/* Methods that need a browser and half a minute are not answered in the reply by the vendor either. */
static bool finish_recognition(struct ask *ask, struct mistake *mistake)
{
    mistake->word = "ERROR_BAD_PARAMETERS";
    ask->hold_ms = HOLD_MAX_MS;
    return ask->type == TYPE_IMAGE;
}

/* Answers an image's text in the reply. A caller that gets CAPCHA_NOT_READY asks again and joins
 * the flight. */
void door_recognise(struct gate *gate, const struct http_request *request, struct visit *visit,
                    uint64_t number)
{
    (void)number;
    visit->verb = VERB_RECOGNISE;
    verb_ask(gate, request, visit, finish_recognition);
}

/* ---- res.php ----------------------------------------------------------------------------- */

static bool read_id(const struct gate *gate, request_id *id)
{
    unsigned long long number;
    if (!slice_to_u64(params_value(&gate->params, SLICE_OF("id")), &number) || number == 0)
        return false;
    *id = number;
    return true;
}

static bool are_too_many(struct slice ids)
{
    unsigned commas = 0;
    for (size_t i = 0; i < ids.len; i++)
        commas += ids.data[i] == ',';
    return commas >= IDS_MAX;
}

/* `ids=1,2,3`: writes the answers in the same order, joined by |, in whatever state each request
 * is. */
static void answer_ids(struct gate *gate, const struct http_request *request,
                       const struct visit *visit, struct slice ids)
{
    request_id wanted[IDS_MAX] = {0};
    unsigned count = 0;
    /* Clients match answers to ids by position, so a short list would be wrong: too many ids, or
     * answers that are too large together, get an error instead. */
    if (are_too_many(ids)) {
        say(gate, request->caller, visit, "ERROR_BAD_PARAMETERS");
        return;
    }
    buf_reset(&gate->words);
    while (ids.len > 0) {
        unsigned long long id = 0;
        struct answer answer = {.refusal = REFUSAL_UNKNOWN_ID};
        if (slice_to_u64(slice_trim(slice_take(&ids, ',')), &id))
            (void)engine_peek(gate->engine, visit->client, verb_own_id(visit, id), &answer);
        wanted[count] = id;
        if (count++ > 0)
            buf_add_char(&gate->words, '|');
        dialect_write_part(&gate->words, &answer);
        answer_close(&answer);
    }
    if (visit->is_json)
        dialect_write_ok(&gate->body, true, buf_slice(&gate->words));
    else
        buf_add(&gate->body, buf_slice(&gate->words));
    if (gate->words.is_full || gate->body.is_full) {
        buf_reset(&gate->body);
        say(gate, request->caller, visit, "ERROR_BAD_PARAMETERS");
        return;
    }
    reply_dialect(gate, request->caller, visit);
    /* Those of other gateways are known when the client asks the next time. */
    for (unsigned i = 0; i < count && gate->cluster.is_on; i++)
        verb_look_for(gate, visit, wanted[i]);
}

static void get(struct gate *gate, const struct http_request *request, struct visit *visit)
{
    const struct slice ids = params_value(&gate->params, SLICE_OF("ids"));
    if (ids.len > 0) {
        answer_ids(gate, request, visit, ids);
        return;
    }
    request_id id;
    if (read_id(gate, &id))
        verb_look(gate, request, visit, id);
    else
        say(gate, request->caller, visit, "ERROR_WRONG_ID_FORMAT");
}

static void report(struct gate *gate, const struct http_request *request, struct visit *visit,
                   bool is_good)
{
    request_id id;
    if (read_id(gate, &id))
        verb_report(gate, request, visit, id, is_good);
    else
        say(gate, request->caller, visit, "ERROR_WRONG_ID_FORMAT");
}

void door_res(struct gate *gate, const struct http_request *request, struct visit *visit,
              uint64_t number)
{
    (void)number;
    if (!verb_enter(gate, request, visit, SCOPE_SOLVE))
        return;
    const struct slice action = params_value(&gate->params, SLICE_OF("action"));
    if (slice_equals(action, SLICE_OF("get"))) {
        get(gate, request, visit);
    } else if (slice_equals(action, SLICE_OF("get2"))) {
        visit->wants_price = true;
        get(gate, request, visit);
    } else if (slice_equals(action, SLICE_OF("getbalance"))) {
        verb_account(gate, request, visit, PROBE_BALANCE);
    } else if (slice_equals(action, SLICE_OF("threadsinfo"))) {
        verb_account(gate, request, visit, PROBE_THREADS);
    } else if (slice_equals(action, SLICE_OF("reportgood"))) {
        report(gate, request, visit, true);
    } else if (slice_equals(action, SLICE_OF("reportbad"))) {
        report(gate, request, visit, false);
    } else {
        say(gate, request->caller, visit,
            action.len == 0 ? "ERROR_EMPTY_ACTION" : "ERROR_BAD_PARAMETERS");
    }
}

/* ---- what came too large ----------------------------------------------------------------- */

static struct slice refused_word(const struct http_request *request, uint16_t status)
{
    /* A body or an address that is too long can only be an image, except on paths that take no
     * images. */
    if (status == 431 || slice_equals(request->path, SLICE_OF("/res.php")))
        return SLICE_OF("ERROR_BAD_PARAMETERS");
    return SLICE_OF("ERROR_TOO_BIG_CAPTCHA_FILESIZE");
}

/* The body was not read, so the form of the reply follows the query or the body's content type: a
 * client that sends JSON can read it. A query that was cut off is read as far as it goes. */
static void vendor_refuse(struct gate *gate, const struct http_request *request, uint16_t status,
                          struct http_reply *reply)
{
    params_reset(&gate->params);
    if (request->query.len > 0 && params_add_form(&gate->params, request->query) != 0)
        gate->params.count = 0;
    const bool is_json = params_flag(&gate->params, SLICE_OF("json")) ||
                         slice_starts_with(request->content_type, SLICE_OF("application/json"));
    buf_reset(&gate->words);
    dialect_write_word(&gate->words, is_json, refused_word(request, status));
    reply->content_type =
        is_json ? SLICE_OF("application/json") : SLICE_OF("text/plain; charset=utf-8");
    if (params_flag(&gate->params, SLICE_OF("header_acao")))
        reply->headers = SLICE_OF("Access-Control-Allow-Origin: *\r\n");
    reply->body = buf_slice(&gate->words);
}

/* ---- answers ----------------------------------------------------------------------------- */

static void write_price(struct gate *gate, const struct answer *answer)
{
    const uint64_t micro = gate->config->engine.price_micro[answer->type];
    buf_reset(&gate->words);
    buf_addf(&gate->words, "%llu.%06llu", (unsigned long long)(micro / 1000000),
             (unsigned long long)(micro % 1000000));
}

static void write_submit(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    if (answer->refusal != REFUSAL_NONE || answer->is_turned_down) {
        dialect_write_word(&gate->body, visit->is_json, dialect_word(answer));
        return;
    }
    buf_reset(&gate->words);
    buf_add_u64(&gate->words, answer->id);
    dialect_write_ok(&gate->body, visit->is_json, buf_slice(&gate->words));
}

static void write_report(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    if (answer->refusal != REFUSAL_NONE)
        dialect_write_word(&gate->body, visit->is_json, dialect_word(answer));
    else if (visit->is_json)
        dialect_write_ok(&gate->body, true, SLICE_OF("OK_REPORT_RECORDED"));
    else
        buf_add(&gate->body, SLICE_OF("OK_REPORT_RECORDED"));
}

static void write_result(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    struct slice price = SLICE_NONE;
    if (visit->wants_price) {
        write_price(gate, answer);
        price = buf_slice(&gate->words);
    }
    dialect_write_result(&gate->body, visit->is_json, answer, price);
}

static void vendor_answer(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    if (visit->verb == VERB_ASK)
        write_submit(gate, visit, answer);
    else if (visit->verb == VERB_REPORT)
        write_report(gate, visit, answer);
    else if (verb_must_look_again(gate, visit, answer))
        dialect_write_word(&gate->body, visit->is_json, dialect_word(&(struct answer){.id = 0}));
    else
        write_result(gate, visit, answer);
    reply_dialect(gate, answer->caller, visit);
}

static void vendor_account(struct gate *gate, const struct visit *visit,
                           const struct account_answer *answer)
{
    dialect_write_account(&gate->body, visit->is_json, &answer->probed);
    reply_dialect(gate, answer->caller, visit);
}

static void vendor_complain(struct gate *gate, caller_id caller, const struct visit *visit,
                            const struct mistake *mistake)
{
    say(gate, caller, visit, mistake->word);
}

const struct dialect dialect_vendor = {
    .kind = DIALECT_VENDOR,
    .read = vendor_read,
    .answer = vendor_answer,
    .complain = vendor_complain,
    .account = vendor_account,
    .refuse = vendor_refuse,
};
