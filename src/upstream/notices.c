#include "upstream/notices.h"

#include "base/assert.h"
#include "upstream/notices_allow.h"
#include "upstream/sender.h"

#include <stdlib.h>

/* Solutions have at most 64 KiB (docs/reliability.md threat 23); this fits one in which every byte
 * is escaped. */
#define WHOLE_URL_MAX_BYTES ((size_t)256 * 1024)

struct notices {
    struct sender *sender; /* owned */
    struct notices_options options;
    void (*on_closed)(void *context);
    void *closed_context;
};

struct notices *notices_new(struct uv_loop_s *loop, const struct notices_options *options,
                            notices_end_fn on_end, void *context, struct buf *mistake)
{
    const struct sender_options sending = {
        .ca_file = options->ca_file,
        .connections = options->connections,
        .timeout_ms = options->timeout_ms,
        .allow_private = options->allow_private,
    };
    struct notices *notices = calloc(1, sizeof *notices);
    ASSERT(notices != NULL);
    notices->options = *options;
    buf_add(mistake, SLICE_OF("callbacks: "));
    notices->sender = sender_new(loop, &sending, on_end, context, mistake);
    if (notices->sender == NULL) {
        free(notices);
        return NULL;
    }
    buf_reset(mistake);
    return notices;
}

void notices_configure(struct notices *notices, const struct notices_options *options)
{
    notices->options.allow = options->allow;
    notices->options.allow_count = options->allow_count;
    notices->options.allow_private = options->allow_private;
    sender_allow_private(notices->sender, options->allow_private);
}

/* ---- one notice -------------------------------------------------------------------------- */

/* Unreserved characters of RFC 3986 2.3; all others are escaped, so that no character of the code
 * can end it. */
static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static void add_escaped(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if (is_unreserved(c))
            buf_add_char(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

/* Appends to the query if the URL already has one. */
static const char *separator(struct slice url)
{
    if (memchr(url.data, '?', url.len) == NULL)
        return "?";
    const char last = url.data[url.len - 1];
    return last == '?' || last == '&' ? "" : "&";
}

static void write_url(struct buf *out, request_id request, struct slice url, struct slice code)
{
    buf_add(out, url);
    buf_add(out, slice_from(separator(url)));
    buf_add(out, SLICE_OF("id="));
    buf_add_u64(out, request);
    buf_add(out, SLICE_OF("&code="));
    add_escaped(out, code);
}

bool notices_send(struct notices *notices, request_id request, struct slice url, struct slice code)
{
    const char *why;
    if (!notices_allows(&notices->options, url, &why))
        return sender_refuse(notices->sender, request, "not_allowed");
    struct buf whole;
    buf_init(&whole, WHOLE_URL_MAX_BYTES);
    write_url(&whole, request, url, code);
    const bool is_taken = whole.is_full ? sender_refuse(notices->sender, request, "too_long")
                                        : sender_get(notices->sender, request, buf_slice(&whole));
    buf_close(&whole);
    return is_taken;
}

bool notices_post(struct notices *notices, request_id request, struct slice url, struct slice json)
{
    const char *why;
    if (!notices_allows(&notices->options, url, &why))
        return sender_refuse(notices->sender, request, "not_allowed");
    return sender_post(notices->sender, request, url, json);
}

/* ---- closing ----------------------------------------------------------------------------- */

static void on_sender_closed(void *context)
{
    struct notices *notices = context;
    void (*on_closed)(void *context) = notices->on_closed;
    void *closed_context = notices->closed_context;
    free(notices);
    on_closed(closed_context);
}

void notices_close(struct notices *notices, void (*on_closed)(void *context), void *context)
{
    notices->on_closed = on_closed;
    notices->closed_context = context;
    sender_close(notices->sender, on_sender_closed, notices);
}
