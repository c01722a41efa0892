#include "cli/bench_talk.h"

#include "cli/bench_images.h"
#include "proto/json_out.h"
#include "proto/vendor.h"

#include <inttypes.h>
#include <solvegate/words.h>
#include <stdio.h>
#include <yyjson.h>

#define PAGE "https://example.com/bench"
#define SITEKEY "0x4AAABENCH"
/* RFC 5737: an address that is nobody's. */
#define PROXY "192.0.2.1:3128"
#define PATH_MAX_BYTES ((size_t)8 * 1024)
#define VALUE_MAX (BENCH_PAGEURL_MAX + 48)

/* What a target of each method consists of. Methods that are not here get pageurl, and whatever --param says. */
static const struct method {
    const char *name;
    const char *key_name;  /* of the site's key, in the vendor's words */
    const char *task_type; /* in createTask; NULL: not known there */
    const char *task_key;
    const char *other; /* a further parameter that is demanded, or NULL */
    bool is_image;
    bool has_proxy; /* demands one */
} methods[] = {
    {"turnstile", "sitekey", "TurnstileTaskProxyless", "websiteKey", NULL, false, false},
    {"userrecaptcha", "googlekey", "RecaptchaV2TaskProxyless", "websiteKey", NULL, false, false},
    {"hcaptcha", "sitekey", "HCaptchaTaskProxyless", "websiteKey", NULL, false, false},
    {"geetest", "gt", "GeeTestTaskProxyless", "gt", "challenge", false, false},
    {"geetest_v4", "captcha_id", "GeeTestTaskProxyless", "captchaId", NULL, false, false},
    {"cloudflare_challenge", NULL, "AntiCloudflareTask", NULL, NULL, false, true},
    {"friendly_captcha", "sitekey", "FriendlyCaptchaTaskProxyless", "websiteKey", NULL, false,
     false},
    {"base64", NULL, "ImageToTextTask", NULL, NULL, true, false},
};

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

bool bench_is_image(const char *method)
{
    const struct method *const known = find_method(method);
    return known != NULL && known->is_image;
}

void bench_message_init(struct bench_message *message)
{
    buf_init(&message->path, PATH_MAX_BYTES);
    buf_init(&message->body, BENCH_MESSAGE_MAX);
}

void bench_message_close(struct bench_message *message)
{
    buf_close(&message->path);
    buf_close(&message->body);
}

/* ---- asking ------------------------------------------------------------------------------ */

static void add_escaped(struct buf *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const bool is_plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                              (*at >= 'A' && *at <= 'Z') || *at == '-' || *at == '_' || *at == '.';
        if (is_plain)
            buf_add_char(out, *at);
        else
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)*at);
    }
}

/* A parameter as a member of the object, or of the form, that is being written. */
static void add_param(const struct bench_talk *talk, struct buf *body, struct slice name,
                      const char *value)
{
    if (talk->plan->dialect == BENCH_VENDOR) {
        buf_addf(body, "%s%.*s=", body->len == 0 ? "" : "&", (int)name.len, name.data);
        add_escaped(body, value);
        return;
    }
    json_item(body);
    (void)json_add_string(body, name);
    buf_add_char(body, ':');
    (void)json_add_string(body, slice_from(value));
}

static void add_named(const struct bench_talk *talk, struct buf *body, const char *name,
                      const char *value)
{
    if (value != NULL)
        add_param(talk, body, slice_from(name), value);
}

/* Every target has an address of its own below one page: the identity of a request has the address in it, and a real
 * page does not mind one more parameter. */
static void write_page(const struct bench_plan *plan, uint64_t target, char page[VALUE_MAX])
{
    const char *const base = plan->pageurl == NULL ? PAGE : plan->pageurl;
    (void)snprintf(page, VALUE_MAX, "%s%cbench=%" PRIx64 "-%" PRIu64, base,
                   strchr(base, '?') == NULL ? '?' : '&', plan->seed, target);
}

static bool is_given(const struct bench_plan *plan, struct slice name)
{
    for (size_t i = 0; i < plan->param_count; i++)
        if (slice_equals(plan->params[i].name, name))
            return true;
    return false;
}

/* A proxy that --param names is taken instead. */
static void add_proxy(const struct bench_talk *talk, struct buf *body)
{
    if (talk->plan->dialect == BENCH_CREATETASK) {
        if (!is_given(talk->plan, SLICE_OF("proxy")) &&
            !is_given(talk->plan, SLICE_OF("proxyAddress")))
            add_named(talk, body, "proxy", "http:" PROXY);
        return;
    }
    if (!is_given(talk->plan, SLICE_OF("proxy")))
        add_named(talk, body, "proxy", PROXY);
    if (!is_given(talk->plan, SLICE_OF("proxytype")))
        add_named(talk, body, "proxytype", "HTTP");
}

static void add_target(const struct bench_talk *talk, uint64_t target, struct buf *body)
{
    const struct bench_plan *const plan = talk->plan;
    const struct method *const method = find_method(plan->method);
    const bool is_task = plan->dialect == BENCH_CREATETASK;
    char page[VALUE_MAX];
    if (method != NULL && method->is_image) {
        char image[BENCH_IMAGE_TEXT_MAX];
        add_named(talk, body, "body", bench_images_text(talk->images, plan->seed, target, image));
        return;
    }
    const char *sitekey = plan->sitekey;
    if (sitekey == NULL && method != NULL)
        sitekey = SITEKEY;
    write_page(plan, target, page);
    add_named(talk, body, is_task ? "websiteURL" : "pageurl", page);
    if (method == NULL)
        add_named(talk, body, is_task ? "websiteKey" : "sitekey", sitekey);
    else if (method->key_name != NULL)
        add_named(talk, body, is_task ? method->task_key : method->key_name, sitekey);
    if (method != NULL && method->other != NULL)
        add_named(talk, body, method->other, page + strlen(page) - 12);
    if (method != NULL && method->has_proxy)
        add_proxy(talk, body);
}

static void add_params(const struct bench_talk *talk, struct buf *body)
{
    const struct bench_plan *const plan = talk->plan;
    for (size_t i = 0; i < plan->param_count; i++)
        add_param(talk, body, plan->params[i].name, plan->params[i].value);
}

static void write_task(const struct bench_talk *talk, uint64_t target, struct buf *body)
{
    const struct method *const method = find_method(talk->plan->method);
    json_open(body, '{');
    json_string(body, "clientKey", talk->key);
    json_member(body, "task");
    json_open(body, '{');
    json_string(body, "type", method == NULL ? talk->plan->method : method->task_type);
    add_target(talk, target, body);
    add_params(talk, body);
    json_close(body, '}');
    add_named(talk, body, "reuse", talk->plan->reuse);
    add_named(talk, body, "callbackUrl", talk->pingback);
    json_close(body, '}');
}

static void write_form(const struct bench_talk *talk, uint64_t target, struct buf *body)
{
    add_named(talk, body, "key", talk->key);
    add_named(talk, body, "json", "1");
    add_named(talk, body, "method", talk->plan->method);
    add_target(talk, target, body);
    add_params(talk, body);
    add_named(talk, body, "reuse", talk->plan->reuse);
    add_named(talk, body, "pingback", talk->pingback);
}

unsigned bench_talk_ask_hold(const struct bench_talk *talk)
{
    const struct bench_plan *const plan = talk->plan;
    const uint64_t wait_s = (plan->wait_ms + 999) / 1000;
    if (plan->dialect != BENCH_V1 || plan->poll_ms > 0 || plan->callbacks != NULL)
        return 0;
    return wait_s < BENCH_HOLD_S ? (unsigned)wait_s : BENCH_HOLD_S;
}

static void write_solve(const struct bench_talk *talk, uint64_t target, struct buf *body)
{
    json_open(body, '{');
    json_string(body, "method", talk->plan->method);
    add_target(talk, target, body);
    add_params(talk, body);
    add_named(talk, body, "reuse", talk->plan->reuse);
    add_named(talk, body, "pingback", talk->pingback);
    if (bench_talk_ask_hold(talk) > 0)
        json_number(body, "wait", bench_talk_ask_hold(talk));
    json_close(body, '}');
}

static void end_message(struct bench_message *message)
{
    buf_add_char(&message->path, '\0');
    message->path.len--;
    if (message->body.len > 0) {
        buf_add_char(&message->body, '\0');
        message->body.len--;
    }
}

static void begin_message(struct bench_message *message, const char *path)
{
    buf_reset(&message->path);
    buf_reset(&message->body);
    buf_add(&message->path, slice_from(path));
}

void bench_talk_ask(const struct bench_talk *talk, uint64_t target, struct bench_message *message)
{
    message->is_look = false;
    switch (talk->plan->dialect) {
    case BENCH_VENDOR:
        begin_message(message, "/in.php");
        write_form(talk, target, &message->body);
        break;
    case BENCH_CREATETASK:
        begin_message(message, "/createTask");
        write_task(talk, target, &message->body);
        break;
    case BENCH_V1:
    case BENCH_DIALECT_COUNT:
        begin_message(message, "/v1/solves");
        write_solve(talk, target, &message->body);
        break;
    }
    end_message(message);
}

void bench_talk_look(const struct bench_talk *talk, const char *id, unsigned hold_s,
                     struct bench_message *message)
{
    message->is_look = true;
    switch (talk->plan->dialect) {
    case BENCH_VENDOR:
        begin_message(message, "/res.php?action=get&json=1&id=");
        add_escaped(&message->path, id);
        buf_add(&message->path, SLICE_OF("&key="));
        add_escaped(&message->path, talk->key);
        if (hold_s > 0)
            buf_addf(&message->path, "&wait=%u", hold_s);
        break;
    case BENCH_CREATETASK:
        begin_message(message, "/getTaskResult");
        json_open(&message->body, '{');
        json_string(&message->body, "clientKey", talk->key);
        json_raw(&message->body, "taskId", slice_from(id));
        json_close(&message->body, '}');
        break;
    case BENCH_V1:
    case BENCH_DIALECT_COUNT:
        begin_message(message, "/v1/solves/");
        add_escaped(&message->path, id);
        if (hold_s > 0)
            buf_addf(&message->path, "?wait=%u", hold_s);
        break;
    }
    end_message(message);
}

size_t bench_talk_headers(const struct bench_talk *talk, char auth[BENCH_HEADER_ROOM],
                          const char *lines[BENCH_HEADERS_MAX])
{
    size_t count = 0;
    lines[count++] = talk->plan->dialect == BENCH_VENDOR
                         ? "Content-Type: application/x-www-form-urlencoded"
                         : "Content-Type: application/json";
    if (talk->plan->dialect == BENCH_V1 && talk->key[0] != '\0') {
        (void)snprintf(auth, BENCH_HEADER_ROOM, "Authorization: Bearer %s", talk->key);
        lines[count++] = auth;
    }
    if (talk->plan->dialect == BENCH_CREATETASK && talk->plan->poll_ms == 0)
        lines[count++] = "Prefer: wait=50";
    return count;
}

/* ---- hearing ----------------------------------------------------------------------------- */

static void fail(struct bench_heard *heard, const char *code)
{
    heard->news = BENCH_FAILED;
    (void)snprintf(heard->code, sizeof heard->code, "%s", code);
}

static void pend(struct bench_heard *heard, yyjson_val *id)
{
    heard->news = BENCH_PENDING;
    if (yyjson_is_uint(id))
        (void)snprintf(heard->id, sizeof heard->id, "%" PRIu64, yyjson_get_uint(id));
    else if (yyjson_is_str(id) && yyjson_get_len(id) < sizeof heard->id)
        (void)snprintf(heard->id, sizeof heard->id, "%s", yyjson_get_str(id));
    else
        fail(heard, "bench_bad_reply");
}

static int find_source(const char *name)
{
    for (int i = 0; name != NULL && i < SOURCE_COUNT; i++)
        if (strcmp(source_name((enum source)i), name) == 0)
            return i;
    return -1;
}

static void hear_solve(yyjson_val *root, struct bench_heard *heard)
{
    const char *const status = yyjson_get_str(yyjson_obj_get(root, "status"));
    const char *const code = yyjson_get_str(yyjson_obj_get(root, "code"));
    if (code != NULL) {
        fail(heard, code);
    } else if (status != NULL && strcmp(status, "solved") == 0) {
        heard->news = BENCH_SOLVED;
        heard->source = find_source(yyjson_get_str(yyjson_obj_get(root, "source")));
    } else {
        pend(heard, yyjson_obj_get(root, "id"));
    }
}

static void hear_vendor(yyjson_val *root, bool is_look, struct bench_heard *heard)
{
    yyjson_val *const request = yyjson_obj_get(root, "request");
    const char *const word = yyjson_get_str(request);
    const bool is_good = yyjson_get_uint(yyjson_obj_get(root, "status")) == 1;
    if (is_good && is_look)
        heard->news = BENCH_SOLVED;
    else if (is_good)
        pend(heard, request);
    else if (word != NULL && strcmp(word, "CAPCHA_NOT_READY") == 0)
        heard->news = BENCH_PENDING;
    else
        fail(heard, word == NULL ? "bench_bad_reply" : word);
}

static void hear_task(yyjson_val *root, bool is_look, struct bench_heard *heard)
{
    const char *const status = yyjson_get_str(yyjson_obj_get(root, "status"));
    const char *const code = yyjson_get_str(yyjson_obj_get(root, "errorCode"));
    if (yyjson_get_uint(yyjson_obj_get(root, "errorId")) != 0)
        fail(heard, code == NULL ? "bench_bad_reply" : code);
    else if (status != NULL && strcmp(status, "ready") == 0)
        heard->news = BENCH_SOLVED;
    else if (is_look)
        heard->news = BENCH_PENDING;
    else
        pend(heard, yyjson_obj_get(root, "taskId"));
}

void bench_talk_hear(const struct bench_talk *talk, bool is_look, long status, struct slice body,
                     struct bench_heard *heard)
{
    yyjson_doc *const doc = yyjson_read(body.data, body.len, 0);
    yyjson_val *const root = yyjson_doc_get_root(doc);
    heard->source = -1;
    heard->id[0] = '\0';
    if (!yyjson_is_obj(root)) {
        heard->news = BENCH_FAILED;
        (void)snprintf(heard->code, sizeof heard->code, "http_%ld", status);
    } else if (talk->plan->dialect == BENCH_VENDOR) {
        hear_vendor(root, is_look, heard);
    } else if (talk->plan->dialect == BENCH_CREATETASK) {
        hear_task(root, is_look, heard);
    } else {
        hear_solve(root, heard);
    }
    yyjson_doc_free(doc);
}

bool bench_talk_may_cost(bool is_sent, bool is_complete, long status, struct slice body)
{
    const struct vendor_options options = {.overrides = NULL};
    const struct vendor_reply reply = {
        .is_sent = is_sent, .is_complete = is_complete, .http_status = status, .body = body};
    struct vendor_result result = {.text = NULL};
    vendor_read_submit(&options, &reply, &result);
    blob_unref(result.text);
    blob_unref(result.extra);
    return result.outcome != OUTCOME_NOT_SENT && result.outcome != OUTCOME_REJECTED;
}
