#include "doors/intake.h"

#include "config/config_values.h"
#include "gate/hosts.h"
#include "proto/form.h"
#include "proto/idempotency.h"
#include "proto/pack.h"
#include "proto/pageurl.h"
#include "proto/rest.h"
#include "upstream/notices_allow.h"

#include <stdio.h>

#define DEFAULT_PRIORITY 5
#define MAX_RETRIES 1000

static bool fail(struct mistake *mistake, uint16_t status, const char *code, const char *word,
                 const char *detail)
{
    mistake->status = status;
    mistake->code = code;
    mistake->word = word;
    snprintf(mistake->detail, sizeof mistake->detail, "%s", detail);
    return false;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* A request with too many bytes can only be an image, except on paths that take none; too many
 * parameters are a mistake. */
static bool fail_params(const struct gate *gate, const struct http_request *request, int err,
                        struct mistake *mistake)
{
    const bool is_image =
        gate->params.is_too_long && !slice_equals(request->path, SLICE_OF("/res.php"));
    if (err == ERR_FULL)
        return fail(mistake, 413, "too_large",
                    is_image ? "ERROR_TOO_BIG_CAPTCHA_FILESIZE" : "ERROR_BAD_PARAMETERS",
                    gate->params.mistake);
    return fail(mistake, 400, "malformed_body", "ERROR_BAD_PARAMETERS", gate->params.mistake);
}

bool intake_read(struct gate *gate, const struct http_request *request, struct mistake *mistake)
{
    params_reset(&gate->params);
    int err = 0;
    if (request->query.len > 0)
        err = params_add_form(&gate->params, request->query);
    if (err == 0 && request->body.len > 0)
        err = params_add_body(&gate->params, request->content_type, request->body);
    return err == 0 || fail_params(gate, request, err, mistake);
}

struct slice intake_bearer(const struct http_request *request)
{
    const struct slice scheme = SLICE_OF("Bearer ");
    const struct slice header = request->authorization;
    const bool is_bearer =
        header.len > scheme.len &&
        slice_equals_nocase((struct slice){.data = header.data, .len = scheme.len}, scheme);
    return is_bearer ? slice_trim(slice_skip(header, scheme.len)) : SLICE_NONE;
}

bool intake_client(struct gate *gate, struct slice key, unsigned scope, client_id *client,
                   struct mistake *mistake)
{
    *client = 0;
    if (gate->config->client_count == 0)
        return true;
    /* Clients of the vendor's dialect know this word for a malformed key. */
    if (!value_is_client_key_length(key.len))
        return fail(mistake, 401, "unauthorized", "ERROR_WRONG_USER_KEY",
                    key.len == 0 ? "no key was given: send Authorization: Bearer KEY or key=KEY"
                                 : "a key has 32 or 36 characters");
    const long found = client_keys_find(&gate->client_keys, key);
    if (found < 0)
        return fail(mistake, 401, "unauthorized", "ERROR_KEY_DOES_NOT_EXIST",
                    "no client has this key");
    if ((gate->config->clients[found].scopes & scope) != scope)
        return fail(mistake, 403, "forbidden", "ERROR_KEY_DOES_NOT_EXIST",
                    scope == SCOPE_ADMIN ? "this client has no scope \"admin\""
                                         : "this client has no scope \"solve\"");
    *client = (client_id)found;
    return true;
}

/* ---- values ------------------------------------------------------------------------------ */

/* Reads digits with at most one point as thousandths; stops at the first other byte. */
static bool read_thousandths(struct slice text, uint64_t *value, size_t *used)
{
    uint64_t number = 0;
    unsigned decimals = 0;
    bool has_point = false;
    bool has_digit = false;
    size_t at = 0;
    for (; at < text.len; at++) {
        const char c = text.data[at];
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        has_digit = true;
        if (has_point && ++decimals > 3)
            continue;
        /* The number in thousandths, times 3600, must stay below 2^64. */
        if (number > UINT64_C(1) << 38)
            return false;
        number = number * 10 + (uint64_t)(c - '0');
    }
    for (; decimals < 3; decimals++)
        number *= 10;
    *value = number;
    *used = at;
    return has_digit;
}

/* Reads seconds ("10", "2.5") or a duration with a unit ("250ms", "5s", "2m", "1h"). */
static bool parse_duration(struct slice text, uint32_t *milliseconds)
{
    static const struct {
        struct slice unit;
        uint64_t factor;
        uint64_t divisor;
    } units[] = {
        {SLICE_INIT(""), 1, 1},   {SLICE_INIT("s"), 1, 1},    {SLICE_INIT("ms"), 1, 1000},
        {SLICE_INIT("m"), 60, 1}, {SLICE_INIT("h"), 3600, 1},
    };
    uint64_t value = 0;
    size_t used = 0;
    if (!read_thousandths(text, &value, &used))
        return false;
    const struct slice rest = slice_skip(text, used);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!slice_equals(rest, units[i].unit))
            continue;
        const uint64_t total = value * units[i].factor / units[i].divisor;
        if (total >= UINT32_MAX)
            return false;
        *milliseconds = (uint32_t)total;
        return true;
    }
    return false;
}

static bool read_duration(const struct gate *gate, struct slice name, uint32_t *milliseconds,
                          struct mistake *mistake)
{
    const struct slice text = params_value(&gate->params, name);
    if (text.len == 0 || parse_duration(text, milliseconds))
        return true;
    fail(mistake, 422, "bad_parameter", "ERROR_BAD_PARAMETERS", "");
    snprintf(mistake->detail, sizeof mistake->detail,
             "%.*s: expected seconds or a duration like \"10s\", found \"%.*s\"", (int)name.len,
             name.data, text.len > 40 ? 40 : (int)text.len, text.data);
    return false;
}

/* `wait=N` among the preferences of RFC 7240. */
static void read_prefer(struct slice rest, uint32_t *hold_ms)
{
    while (rest.len > 0) {
        const struct slice token = slice_trim(slice_take(&rest, ','));
        unsigned long long seconds;
        if (slice_starts_with(token, SLICE_OF("wait=")) &&
            slice_to_u64(slice_skip(token, 5), &seconds)) {
            *hold_ms = seconds > HOLD_MAX_MS / 1000 ? HOLD_MAX_MS : (uint32_t)seconds * 1000;
            return;
        }
    }
}

bool intake_hold(const struct gate *gate, const struct http_request *request,
                 const struct visit *visit, uint32_t *hold_ms, struct mistake *mistake)
{
    if (!read_duration(gate, SLICE_OF("wait"), hold_ms, mistake))
        return false;
    if (visit->dialect->has_prefer &&
        !slice_is_given(params_value(&gate->params, SLICE_OF("wait"))))
        read_prefer(request->prefer, hold_ms);
    if (*hold_ms > HOLD_MAX_MS)
        *hold_ms = HOLD_MAX_MS;
    return true;
}

/* Leaves the number unchanged if the parameter is not given. */
static bool read_number(const struct gate *gate, struct slice name, unsigned long long *number)
{
    const struct slice text = params_value(&gate->params, name);
    return !slice_is_given(text) || slice_to_u64(text, number);
}

bool intake_page(const struct gate *gate, size_t most, struct page *page, struct mistake *mistake)
{
    unsigned long long after = 0;
    unsigned long long limit = most;
    if (!read_number(gate, SLICE_OF("after"), &after))
        return fail(mistake, 422, "bad_parameter", "ERROR_BAD_PARAMETERS",
                    "after: expected the cursor `next` of the page before");
    if (!read_number(gate, SLICE_OF("limit"), &limit) || limit == 0)
        return fail(mistake, 422, "bad_parameter", "ERROR_BAD_PARAMETERS",
                    "limit: expected a number from 1");
    page->cursor = after;
    page->limit = limit > most ? most : limit;
    return true;
}

static bool read_reuse(const struct gate *gate, struct ask *ask, struct mistake *mistake)
{
    const struct slice text = params_value(&gate->params, SLICE_OF("reuse"));
    if (text.len == 0)
        return true;
    if (slice_equals(text, SLICE_OF("shared")))
        ask->reuse = REUSE_SHARED;
    else if (slice_equals(text, SLICE_OF("single")))
        ask->reuse = REUSE_SINGLE;
    else if (slice_equals(text, SLICE_OF("none")))
        ask->reuse = REUSE_NONE;
    else
        return fail(mistake, 422, "bad_parameter", "ERROR_BAD_PARAMETERS",
                    "reuse: expected shared, single or none");
    return true;
}

static bool read_priority(const struct gate *gate, struct ask *ask, struct mistake *mistake)
{
    const struct slice text = params_value(&gate->params, SLICE_OF("priority"));
    unsigned long long value = DEFAULT_PRIORITY;
    if (text.len > 0 && (!slice_to_u64(text, &value) || value > 9))
        return fail(mistake, 422, "bad_parameter", "ERROR_BAD_PARAMETERS",
                    "priority: expected a number from 0 to 9");
    ask->priority = (uint8_t)value;
    return true;
}

/* A request may have fewer attempts and longer pauses than the operator configured, never more or
 * shorter. */
static bool read_retry(const struct gate *gate, struct ask *ask, struct mistake *mistake)
{
    const struct slice text = params_value(&gate->params, SLICE_OF("max_retries"));
    unsigned long long value = 0;
    if (text.len > 0 && (!slice_to_u64(text, &value) || value > MAX_RETRIES))
        return fail(mistake, 422, "bad_parameter", "ERROR_BAD_PARAMETERS",
                    "max_retries: expected a number from 0 to 1000");
    ask->has_max_retries = text.len > 0;
    ask->max_retries = (uint16_t)value;
    return read_duration(gate, SLICE_OF("retry_delay"), &ask->retry_delay_ms, mistake);
}

/* ---- policy ------------------------------------------------------------------------------ */

/* Type, then client, then request: the most specific setting wins. The client's setting is for
 * tokens only; the answer to an image does not wear out, so only the type or the request itself can
 * change its reuse. */
static enum reuse default_reuse(const struct gate *gate, client_id client, enum type type)
{
    const struct config *config = gate->config;
    if (config->client_count > 0 && type != TYPE_IMAGE &&
        config->clients[client].reuse != REUSE_DEFAULT)
        return config->clients[client].reuse;
    return config->reuse[type];
}

static bool read_idempotency(const struct gate *gate, const struct http_request *request,
                             struct ask *ask, struct mistake *mistake)
{
    struct slice raw = request->idempotency_key;
    if (!slice_is_given(raw))
        raw = params_value(&gate->params, SLICE_OF("idempotency_key"));
    if (!slice_is_given(raw))
        return true;
    struct slice key;
    if (!idempotency_key_parse(raw, &key))
        return fail(mistake, 422, "bad_idempotency_key", "ERROR_BAD_PARAMETERS",
                    "Idempotency-Key: expected 1 to 255 visible ASCII characters");
    ask->has_idempotency = true;
    ask->idempotency = idempotency_digest(&gate->scopes[ask->client], key);
    return true;
}

static bool check_host(const struct gate *gate, const struct ask *ask, struct mistake *mistake)
{
    if (gate->config->client_count == 0)
        return true;
    const enum hosts_verdict verdict =
        hosts_judge(&gate->config->clients[ask->client], &gate->params);
    if (verdict == HOSTS_ALLOWED)
        return true;
    return fail(mistake, 403, "host_not_allowed", "ERROR_DOMAIN_NOT_ALLOWED",
                verdict == HOSTS_FOREIGN
                    ? "pageurl: this client may not ask for this host"
                    : "pageurl: expected an http or https URL of an allowed host");
}

/* The address for the caller's notice; an empty one means none, as for the vendor. */
static struct slice pingback_of(const struct gate *gate)
{
    const struct slice pingback = params_value(&gate->params, SLICE_OF("pingback"));
    return pingback.len > 0 ? pingback : SLICE_NONE;
}

static bool check_pingback(const struct gate *gate, struct mistake *mistake)
{
    const struct slice pingback = pingback_of(gate);
    const char *why = NULL;
    if (!slice_is_given(pingback) || notices_allows(&gate->config->notices, pingback, &why))
        return true;
    return fail(mistake, 403, "pingback_not_allowed", "ERROR_PINGBACK_NOT_ALLOWED", why);
}

/* The page's host, for people and for advice: nothing depends on it. It is a piece of the packed
 * parameters, wherever its text stands there, and as it was written. URLs that need a real parser
 * have none. */
static struct slice host_of(const struct gate *gate, struct slice packed)
{
    for (size_t i = 0; i < gate->params.count; i++) {
        const struct param *param = &gate->params.items[i];
        const struct slice host =
            pageurl_is_name(param->name) ? pageurl_find_host(param->value) : SLICE_NONE;
        const char *found =
            host.len == 0 ? NULL : memmem(packed.data, packed.len, host.data, host.len);
        if (found != NULL)
            return (struct slice){.data = found, .len = host.len};
    }
    return SLICE_NONE;
}

void intake_pack(const struct gate *gate, struct ask *ask)
{
    const struct slice pingback = pingback_of(gate);
    ask->params = params_pack(&gate->params);
    ask->pingback = slice_is_given(pingback) ? blob_new(pingback) : NULL;
    ask->host = host_of(gate, blob_slice(ask->params));
}

void intake_ask_close(struct ask *ask)
{
    blob_unref(ask->params);
    blob_unref(ask->pingback);
}

bool intake_ask(struct gate *gate, const struct http_request *request, const struct visit *visit,
                struct ask *ask, struct mistake *mistake)
{
    const client_id client = visit->client;
    *ask = (struct ask){.caller = request->caller, .client = client, .max_age_ms = UINT32_MAX};
    ask->id_layout = visit->id_layout;
    ask->dialect = visit->dialect->kind;
    if (!check_pingback(gate, mistake))
        return false;
    if (identity_compute(&gate->identity_options, &gate->params, &gate->scopes[client],
                         &gate->scratch, &gate->identity) != 0)
        return fail(mistake, 422, "bad_parameter", gate->identity.mistake,
                    gate->identity.mistake_detail);
    ask->type = gate->identity.type;
    ask->key = gate->identity.key;
    ask->is_one_time = gate->identity.is_one_time;
    ask->wants_rest = rest_is_wanted(&gate->params);
    ask->reuse = default_reuse(gate, client, ask->type);
    ask->pool = targets_find(&gate->targets, &gate->params, client, &gate->scratch);
    ask->min_ttl_ms = gate->config->min_ttl_ms;
    return check_host(gate, ask, mistake) && read_reuse(gate, ask, mistake) &&
           read_priority(gate, ask, mistake) &&
           read_duration(gate, SLICE_OF("min_ttl"), &ask->min_ttl_ms, mistake) &&
           read_duration(gate, SLICE_OF("max_age"), &ask->max_age_ms, mistake) &&
           read_retry(gate, ask, mistake) &&
           intake_hold(gate, request, visit, &ask->hold_ms, mistake) &&
           read_idempotency(gate, request, ask, mistake);
}
