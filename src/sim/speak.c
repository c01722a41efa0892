#include "sim/speak.h"

#include "base/assert.h"
#include "sim/text.h"

#include <stdio.h>
#include <time.h>

bool speak_is_json(const struct vendor *vendor)
{
    const struct slice json = params_get(&vendor->params, SLICE_OF("json"));

    if (!slice_is_given(json))
        return vendor->options->is_json_default;
    return params_is_set(&vendor->params, SLICE_OF("json"));
}

bool speak_begin(struct vendor *vendor, struct http_reply *reply)
{
    const bool is_json = speak_is_json(vendor);

    if (is_json)
        reply->content_type = "application/json";
    if (params_is_set(&vendor->params, SLICE_OF("header_acao"))) {
        buf_add(&vendor->headers, SLICE_OF("Access-Control-Allow-Origin: *\r\n"));
        reply->headers = buf_slice(&vendor->headers);
    }
    return is_json;
}

void speak_error(struct vendor *vendor, struct http_reply *reply, const char *code)
{
    const bool is_json = speak_begin(vendor, reply);

    vendor->outcome = code;
    buf_reset(reply->body);
    if (!is_json) {
        buf_add(reply->body, slice_from(code));
        return;
    }
    buf_add(reply->body, SLICE_OF("{\"status\":0,\"request\":"));
    text_add_json(reply->body, slice_from(code));
    buf_add_char(reply->body, '}');
}

void speak_ok(struct vendor *vendor, struct http_reply *reply, struct slice word)
{
    const bool is_json = speak_begin(vendor, reply);

    if (!is_json) {
        buf_add(reply->body, word);
        return;
    }
    buf_add(reply->body, SLICE_OF("{\"status\":1,\"request\":"));
    text_add_json(reply->body, word);
    buf_add_char(reply->body, '}');
}

static void add_retry_after(struct vendor *vendor, const char *text)
{
    struct buf *headers = &vendor->headers;

    if (strcmp(text, "none") == 0)
        return;
    buf_add(headers, SLICE_OF("Retry-After: "));
    if (strcmp(text, "date") == 0) {
        char date[40];
        const time_t wall =
            (time_t)(clock_wall_ms(vendor->clock, clock_now_ms(vendor->clock)) / 1000) + 5;
        struct tm parts;
        gmtime_r(&wall, &parts);
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
        buf_add(headers, slice_from(date));
    } else if (strcmp(text, "huge") == 0) {
        buf_add(headers, SLICE_OF("315360000"));
    } else if (strcmp(text, "garbage") == 0) {
        buf_add(headers, SLICE_OF("soon-ish;\"?"));
    } else {
        buf_add(headers, slice_from(text));
    }
    buf_add(headers, SLICE_OF("\r\n"));
}

static void speak_page(struct http_reply *reply, int status)
{
    buf_reset(reply->body);
    reply->status = status;
    reply->content_type = "text/html";
    buf_addf(
        reply->body,
        "<html>\r\n<head><title>%d</title></head>\r\n<body>\r\n"
        "<center><h1>%d</h1></center>\r\n<hr><center>simulated</center>\r\n</body>\r\n</html>\r\n",
        status, status);
}

static void speak_garbage(struct http_reply *reply)
{
    static const char garbage[] = "\x1f\x8b\x08\x00{\"status\":\xff\xfe|OK|<\x01\x02>";

    buf_reset(reply->body);
    buf_add(reply->body, SLICE_OF(garbage));
}

static void deliver(struct http_reply *reply, enum http_delivery delivery, uint64_t amount)
{
    reply->delivery = delivery;
    reply->amount = amount;
}

/* False if the fault changes the content of the reply, not its delivery. */
static bool change_way(struct http_reply *reply, const struct fault *fault)
{
    switch (fault_kind(fault)) {
    case FAULT_CLOSE:
    case FAULT_LOST:
        deliver(reply, HTTP_CLOSE, 0);
        return true;
    case FAULT_RESET:
    case FAULT_LOST_RESET:
        deliver(reply, HTTP_RESET, 0);
        return true;
    case FAULT_STALL:
    case FAULT_HANG:
        deliver(reply, HTTP_NEVER, 0);
        return true;
    case FAULT_TRUNCATE:
        deliver(reply, HTTP_TRUNCATE,
                fault->number == FAULT_HALF ? reply->body->len / 2 : fault->number);
        return true;
    case FAULT_DRIP:
        deliver(reply, HTTP_DRIP, fault->number);
        return true;
    case FAULT_DELAY:
        deliver(reply, HTTP_HOLD, fault->number);
        return true;
    case FAULT_429:
    case FAULT_5XX:
    case FAULT_5XX_ACCEPTED:
    case FAULT_GARBAGE:
    case FAULT_EMPTY:
    case FAULT_ERROR:
        return false;
    case FAULT_NONE:
    case FAULT_WRONG_ID:
    case FAULT_TWICE:
    case FAULT_NEVER:
    case FAULT_SLOW:
    case FAULT_REPLY:
    case FAULT_CODE:
    case FAULT_DROP:
    case FAULT_EARLY:
    case FAULT_LATE:
    case FAULT_FORGED:
    case FAULT_OTHER_CODE:
        return true;
    }
    UNREACHABLE();
}

void speak_fault(struct vendor *vendor, struct http_reply *reply, const struct fault *fault)
{
    if (change_way(reply, fault))
        return;
    const enum fault_kind kind = fault_kind(fault);
    deliver(reply, HTTP_SEND, 0);
    if (kind == FAULT_ERROR) {
        buf_reset(&vendor->headers);
        speak_error(vendor, reply, fault->text);
    } else if (kind == FAULT_GARBAGE) {
        speak_garbage(reply);
    } else if (kind == FAULT_EMPTY) {
        buf_reset(reply->body);
    } else if (kind == FAULT_429) {
        speak_page(reply, 429);
        add_retry_after(vendor, fault->text);
        reply->headers = buf_slice(&vendor->headers);
    } else {
        speak_page(reply, (int)fault->number);
    }
}
