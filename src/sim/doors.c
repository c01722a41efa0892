#include "sim/doors.h"

#include "sim/control.h"
#include "sim/methods.h"
#include "sim/polls.h"
#include "sim/speak.h"
#include "sim/submit.h"

#include <stdio.h>

static const char welcome[] =
    "solvegate-sim: a stand-in for the CaptchaAI API. Nothing is solved and nothing costs money.\n"
    "  /in.php /res.php /solve.php   the vendor's doors\n"
    "  GET /sim/ledger               every accepted submit (?summary=1 for the totals)\n"
    "  GET|PUT /sim/faults           what goes wrong, and how often\n"
    "  POST /sim/solve               end what is in flight (?id=, ?error=)\n"
    "  POST /sim/reset               back to the start\n"
    "solvegate-sim --help tells more.\n";

enum door { DOOR_SUBMIT, DOOR_SYNC, DOOR_POLL, DOOR_CONTROL, DOOR_WELCOME, DOOR_NONE };

static enum door find_door(struct slice path)
{
    if (slice_equals(path, SLICE_OF("/res.php")))
        return DOOR_POLL;
    if (slice_equals(path, SLICE_OF("/in.php")))
        return DOOR_SUBMIT;
    if (slice_equals(path, SLICE_OF("/solve.php")))
        return DOOR_SYNC;
    if (slice_starts_with(path, SLICE_OF("/sim/")))
        return DOOR_CONTROL;
    return slice_equals(path, SLICE_OF("/")) ? DOOR_WELCOME : DOOR_NONE;
}

/* Adds a word, shortened and without characters that could begin a new line. */
static void add_word(struct buf *line, struct slice word)
{
    buf_add_char(line, ' ');
    for (size_t i = 0; i < word.len && i < 80; i++)
        buf_add_char(line, word.data[i] > ' ' && word.data[i] < 0x7f ? word.data[i] : '?');
    if (word.len == 0)
        buf_add_char(line, '-');
}

/* Logs one line per call, never with a key or token. */
static void log_call(struct vendor *vendor, const struct http_request *request,
                     const struct http_reply *reply)
{
    const struct params *params = &vendor->params;
    const bool is_poll = find_door(request->path) == DOOR_POLL;
    const unsigned long long at_ms = clock_wall_ms(vendor->clock, clock_now_ms(vendor->clock));
    struct buf *line = &vendor->scratch;

    buf_reset(line);
    buf_addf(line, "%llu.%03llu %s", at_ms / 1000, at_ms % 1000, request->method);
    add_word(line, request->path);
    add_word(line, is_poll ? params_get(params, SLICE_OF("action")) : methods_name(params));
    buf_addf(line, " http=%d", reply->status);
    if (is_poll) {
        buf_add(line, SLICE_OF(" id="));
        add_word(line, params_get(params, SLICE_OF("id")));
    }
    add_word(line, slice_from(vendor->outcome));
    if (reply->delivery != HTTP_SEND && reply->delivery != HTTP_WAIT)
        buf_add(line, SLICE_OF(" (held back or cut)"));
    fprintf(stderr, "%.*s\n", (int)line->len, line->data);
}

static bool is_allowed(const struct http_request *request, enum door door)
{
    const struct slice method = slice_from(request->method);

    return door == DOOR_CONTROL || slice_equals(method, SLICE_OF("GET")) ||
           slice_equals(method, SLICE_OF("POST"));
}

static void serve_vendor(struct vendor *vendor, const struct http_request *request,
                         struct http_reply *reply, enum door door)
{
    vendor->totals.calls++;
    if (params_parse(&vendor->params, request->query, request->content_type, request->body) != 0) {
        speak_error(vendor, reply, "ERROR_BAD_PARAMETERS");
        return;
    }
    if (door == DOOR_POLL)
        polls_serve(vendor, reply);
    else
        submit_serve(vendor, request, reply, door == DOOR_SYNC);
}

void doors_serve(void *context, const struct http_request *request, struct http_reply *reply)
{
    struct vendor *vendor = context;
    const enum door door = find_door(request->path);

    vendor->outcome = "-";
    buf_reset(&vendor->headers);
    if (!is_allowed(request, door)) {
        reply->status = 405;
        reply->headers = SLICE_OF("Allow: GET, POST\r\n");
    } else if (door == DOOR_NONE) {
        reply->status = 404;
        buf_add(reply->body, SLICE_OF(welcome));
    } else if (door == DOOR_WELCOME) {
        buf_add(reply->body, SLICE_OF(welcome));
    } else if (door != DOOR_CONTROL) {
        serve_vendor(vendor, request, reply, door);
    } else if (params_parse(&vendor->params, request->query, SLICE_NONE, SLICE_NONE) == 0) {
        control_serve(vendor, request, reply);
    } else {
        reply->status = 400;
    }
    if (vendor->options->is_logging)
        log_call(vendor, request, reply);
}
