#include "oom.h"

#include "base/assert.h"
#include "config/config.h"
#include "http/http.h"
#include "proto/form.h"
#include "proto/pack.h"
#include "proto/params.h"
#include "proto/vendor.h"
#include "proto/vendor_write.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/* ---- bodies -------------------------------------------------------------------------------- */

/* What a caller would be told, or the parameters. */
static bool told(char *text, size_t room, struct params *params, int code)
{
    ASSERT((code == 0) == (params->mistake[0] == '\0'));
    tell(text, room, "%d\n", code);
    for (size_t i = 0; code == 0 && i < params->count; i++) {
        const struct param *item = &params->items[i];
        tell(text, room, "%.*s=%.*s;%.*s\n", (int)item->name.len, item->name.data,
             (int)item->value.len, item->value.data, (int)item->filename.len,
             slice_is_given(item->filename) ? item->filename.data : "");
    }
    return code == 0;
}

static bool read_body(char *text, size_t room, struct slice type, struct slice body)
{
    struct params params;
    params_init(&params, 65536);
    const int code = params_add_body(&params, type, body);
    const bool is_read = told(text, room, &params, code);
    struct blob *packed = is_read ? params_pack(&params) : NULL;
    if (is_read) {
        struct params again;
        params_init(&again, 65536);
        const int unpacked = params_unpack(&again, packed);
        (void)told(text, room, &again, unpacked);
        params_close(&again);
    }
    blob_unref(packed);
    params_close(&params);
    return is_read;
}

static bool read_form(char *text, size_t room)
{
    return read_body(
        text, room, SLICE_OF("application/x-www-form-urlencoded"),
        SLICE_OF("key=k&method=turnstile&sitekey=0x%41%42&pageurl=https%3A%2F%2Fexample"
                 ".com%2F&cookies=a%3D1%3Bb%3D2&userAgent=Mozilla+5.0&data-s=%00%ff"));
}

static bool read_json(char *text, size_t room)
{
    return read_body(text, room, SLICE_OF("application/json"),
                     SLICE_OF("{\"method\":\"turnstile\",\"sitekey\":\"0x\\u00e4\\n\",\"wait\":15,"
                              "\"invisible\":true,\"nothing\":null,\"list\":[1,2.50,{\"a\":\"b\"}],"
                              "\"object\":{\"deep\":{\"er\":[[]]}},\"pageurl\":\"https://a/\"}"));
}

static bool read_multipart(char *text, size_t room)
{
    return read_body(
        text, room, SLICE_OF("multipart/form-data; boundary=\"B\""),
        SLICE_OF("--B\r\nContent-Disposition: form-data; name=\"method\"\r\n\r\npost\r\n"
                 "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\\\"b"
                 ".png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--C\r\nmore\r\n"
                 "--B\r\nContent-Disposition: form-data; name=key\r\n\r\nk\r\n--B--\r\n"));
}

/* ---- the vendor ---------------------------------------------------------------------------- */

static const struct vendor_options no_overrides;

static struct vendor_reply reply_of(struct slice body)
{
    return (struct vendor_reply){
        .is_sent = true, .is_complete = true, .http_status = 200, .body = body};
}

static void tell_blob(char *text, size_t room, const struct blob *blob)
{
    const struct slice bytes = blob == NULL ? SLICE_OF("none") : blob_slice(blob);
    tell(text, room, "%zu %.*s\n", bytes.len, (int)bytes.len, bytes.data);
}

/* Replies beyond a few hundred bytes do not fit into the reader's own memory. */
static void pad_reply(struct buf *body, const char *start, const char *end)
{
    buf_init(body, 16384);
    buf_add(body, slice_from(start));
    for (int i = 0; i < 300; i++)
        buf_add(body, SLICE_OF("0123456789"));
    buf_add(body, slice_from(end));
}

/* Without memory a submit's reply is as good as lost, and that is what must be said of it. */
static bool read_submit(char *text, size_t room, const char *start, const char *end, bool is_whole)
{
    struct buf body;
    pad_reply(&body, start, end);
    struct vendor_reply reply = reply_of(buf_slice(&body));
    reply.is_complete = is_whole;
    struct vendor_result result = {0};
    vendor_read_submit(&no_overrides, &reply, &result);
    buf_close(&body);
    tell(text, room, "%d %d %s %s\n", (int)result.outcome, (int)result.class, result.code,
         result.task_id);
    return result.outcome != OUTCOME_AMBIGUOUS;
}

static bool read_whole_submit(char *text, size_t room)
{
    return read_submit(text, room, "{\"status\":1,\"request\":\"2122988149\",\"pad\":\"", "\"}",
                       true);
}

static bool read_cut_submit(char *text, size_t room)
{
    return read_submit(text, room, "{\"status\":1,\"request\":\"2122988149\",\"pad\":\"", "",
                       false);
}

static bool read_refused_submit(char *text, size_t room)
{
    return read_submit(text, room,
                       "{\"status\":0,\"request\":\"ERROR_ZERO_BALANCE\",\"error_text\":\"", "\"}",
                       true);
}

static bool read_poll(char *text, size_t room)
{
    struct buf body;
    pad_reply(&body,
              "{\"status\":1,\"request\":\"03AGdBq\\u0032token\",\"user_agent\":\"Mozilla\","
              "\"price\":0.0010,\"more\":{\"list\":[1,2,3]},\"pad\":\"",
              "\"}");
    const struct vendor_reply reply = reply_of(buf_slice(&body));
    struct vendor_result result = {0};
    vendor_read_poll(&no_overrides, &reply, &result);
    tell(text, room, "%d %d %s\n", (int)result.outcome, (int)result.class, result.code);
    tell_blob(text, room, result.text);
    tell_blob(text, room, result.extra);
    blob_unref(result.text);
    blob_unref(result.extra);
    buf_close(&body);
    return result.outcome != OUTCOME_UNHEARD;
}

static bool read_threads(char *text, size_t room)
{
    struct buf body;
    pad_reply(&body, "{\"threads\":\"5\",\"working_threads\":2,\"pad\":\"", "\"}");
    const struct vendor_reply reply = reply_of(buf_slice(&body));
    struct probed probed = {.probe = PROBE_THREADS};
    vendor_read_probe(&no_overrides, &reply, PROBE_THREADS, &probed);
    buf_close(&body);
    tell(text, room, "%d %d %u %u\n", probed.is_ok, probed.has_threads, probed.threads,
         probed.working_threads);
    return probed.is_ok;
}

static bool write_submit(char *text, size_t room)
{
    struct params params;
    params_init(&params, 4096);
    const int code = params_add_form(&params, SLICE_OF("method=turnstile&sitekey=a%26b&pageurl=x"));
    ASSERT(code == 0);
    struct blob *packed = params_pack(&params);
    struct buf body, type;
    buf_init(&body, 4096);
    buf_init(&type, 256);
    const int written = vendor_write_submit(packed, SLICE_OF("vendor-key"),
                                            SLICE_OF("https://gate/pingback/n"), &body, &type);
    tell(text, room, "%d %.*s %.*s\n", written, (int)type.len, buf_slice(&type).data, (int)body.len,
         buf_slice(&body).data);
    buf_close(&type);
    buf_close(&body);
    blob_unref(packed);
    params_close(&params);
    return written == 0;
}

/* ---- the configuration --------------------------------------------------------------------- */

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void tell_config(char *text, size_t room, const struct config *config)
{
    tell(text, room, "%zu %s %s %u %zu\n", config->listen_count, config->listen[0],
         config->upstream.url, config->http.body_bytes, config->upstream.vendor.override_count);
    for (size_t i = 0; i < config->client_count; i++) {
        const struct config_client *client = &config->clients[i];
        tell(text, room, "%s %u %zu", client->name, client->scopes, client->allow_host_count);
        for (size_t j = 0; j < client->allow_host_count; j++)
            tell(text, room, " %s", client->allow_hosts[j]);
        tell(text, room, " %02x%02x %u\n", client->key_hash[0], client->key_hash[31],
             (unsigned)config->client_order[i]);
    }
    for (size_t i = 0; i < config->pool_count; i++)
        tell(text, room, "%s %u %u\n", config->pools[i].name, config->pools[i].options.size,
             config->pools[i].params->len);
}

static bool load_config(char *text, size_t room, const char *file)
{
    static struct config config;
    struct buf mistakes;
    buf_init(&mistakes, 65536);
    const int code =
        config_load(&config, slice_from(file), "gate.json", no_environment, NULL, 0, &mistakes);
    ASSERT((code == 0) == (mistakes.len == 0));
    if (code == 0)
        tell_config(text, room, &config);
    else
        tell(text, room, "%.*s", (int)mistakes.len, mistakes.data);
    config_close(&config);
    buf_close(&mistakes);
    return code == 0;
}

static bool read_config(char *text, size_t room)
{
    return load_config(
        text, room,
        "{\"listen\": [\"127.0.0.1:0\"], \"upstream\": {\"key\": \"vendor\", \"price\": "
        "{\"default\": "
        "2}},\n\"errors\": {\"ERROR_SOMETHING\": \"transient\"}, // a comment\n"
        "\"pools\": [{\"name\": \"login\", \"method\": \"turnstile\", \"sitekey\": \"0xS\", "
        "\"pageurl\": \"https://example.org/\", \"size\": 3, \"client\": \"crawler\"}],\n"
        "\"clients\": [{\"name\": \"crawler\", \"key\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", "
        "\"scopes\": [\"solve\"], \"allow_hosts\": [\"*.Example.com\", \"example.org\"]},\n"
        "{\"name\": \"other\", \"key\": \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}],\n"
        "\"limits\": {\"body\": \"1MiB\"}, }");
}

/* Here an error is what is read, and only the same one is right: the story is told, not refused. */
static bool read_bad_config(char *text, size_t room)
{
    static const char *const wanted[] = {"pools[0]", "limits.boddy", "upstream.slots"};
    (void)load_config(text, room,
                      "{\"listen\": [\"127.0.0.1:0\"], \"upstream\": {\"key\": \"v\", \"slots\": "
                      "\"many\"}, \"pools\": [{\"name\": \"x\"}], \"limits\": {\"boddy\": 1}}");
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (strstr(text, wanted[i]) == NULL)
            return false;
    return true;
}

/* ---- HTTP ---------------------------------------------------------------------------------- */

struct talk {
    struct http_server *server;
    char *text;
    size_t room;
    int client;
};

static void on_request(void *context, const struct http_request *request)
{
    struct talk *talk = context;
    tell(talk->text, talk->room, "%d %.*s %zu %.*s\n", (int)request->method, (int)request->path.len,
         request->path.data, request->body.len, (int)request->content_type.len,
         slice_is_given(request->content_type) ? request->content_type.data : "");
    http_reply(talk->server, request->caller,
               &(struct http_reply){
                   .status = 200, .content_type = SLICE_OF("text/plain"), .body = request->body});
}

static void on_gone(void *context, caller_id caller, const struct http_note *note)
{
    (void)context;
    (void)caller;
    (void)note;
}

static void on_closed(void *context)
{
    (void)context;
}

static int dial(const struct buf *bound)
{
    const char *colon = strrchr(bound->data, ':');
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10))};
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT(client >= 0);
    ASSERT(connect(client, (const struct sockaddr *)&address, sizeof(address)) == 0);
    return client;
}

static void send_piece(struct talk *talk, uv_loop_t *loop, struct slice piece)
{
    ASSERT(send(talk->client, piece.data, piece.len, MSG_NOSIGNAL) == (ssize_t)piece.len);
    /* The kernel hands it over at once on the loopback; what comes later is read with the next piece. */
    for (int turn = 0; turn < 5; turn++)
        (void)uv_run(loop, UV_RUN_NOWAIT);
}

/* Bodies are told by their length, heads not at all: they hold the time. */
static void hear(struct talk *talk, uv_loop_t *loop, size_t wanted)
{
    char bytes[4096];
    size_t heard = 0;
    for (int turn = 0; heard < wanted && turn < 10000; turn++) {
        (void)uv_run(loop, UV_RUN_NOWAIT);
        const ssize_t count = recv(talk->client, bytes, sizeof(bytes), MSG_DONTWAIT);
        heard += count > 0 ? (size_t)count : 0;
        if (count <= 0)
            (void)usleep(1000);
    }
    tell(talk->text, talk->room, "%s\n", heard >= wanted ? "heard" : "silence");
}

#define ECHOED 3000

static void converse(struct talk *talk, uv_loop_t *loop)
{
    char body[ECHOED];
    memset(body, 'x', sizeof(body));
    send_piece(talk, loop, SLICE_OF("POST /echo?a=b HTTP/1.1\r\nHost: x\r\nContent-Ty"));
    send_piece(talk, loop, SLICE_OF("pe: text/plain\r\nContent-Length: 3000\r\n\r\n"));
    send_piece(talk, loop, (struct slice){.data = body, .len = ECHOED / 2});
    send_piece(talk, loop, (struct slice){.data = body, .len = ECHOED / 2});
    hear(talk, loop, ECHOED);
    send_piece(talk, loop,
               SLICE_OF("POST /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"));
    send_piece(talk, loop, SLICE_OF("\r\n\r\n5\r\nhello\r\n6\r\n wor"));
    send_piece(talk, loop, SLICE_OF("ld\r\n0\r\n\r\n"));
    hear(talk, loop, 50);
}

static bool serve_http(char *text, size_t room)
{
    struct talk talk = {.text = text, .room = room};
    const struct http_options options = {.connections = 4,
                                         .body_bytes = 65536,
                                         .header_bytes = 4096,
                                         .url_bytes = 1024,
                                         .header_timeout_ms = 60000,
                                         .body_timeout_ms = 60000,
                                         .write_timeout_ms = 60000,
                                         .idle_timeout_ms = 60000,
                                         .partial_bytes = 1 << 20,
                                         .unsent_bytes = 1 << 20,
                                         .pipeline = 8};
    uv_loop_t loop;
    ASSERT(uv_loop_init(&loop) == 0);
    talk.server = http_server_new(
        &loop, &options,
        &(struct http_handlers){.context = &talk, .on_request = on_request, .on_gone = on_gone});
    struct buf bound, mistake;
    buf_init(&bound, 1024);
    buf_init(&mistake, 1024);
    ASSERT(http_server_listen(talk.server, "127.0.0.1:0", &bound, &mistake) == 0);
    buf_add_char(&bound, '\0');
    talk.client = dial(&bound);
    converse(&talk, &loop);
    ASSERT(close(talk.client) == 0);
    http_server_close(talk.server, on_closed, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    http_server_free(talk.server);
    ASSERT(uv_loop_close(&loop) == 0);
    buf_close(&bound);
    buf_close(&mistake);
    return true;
}

const struct story stories[] = {
    {"a form", read_form},
    {"a JSON body", read_json},
    {"a multipart body", read_multipart},
    {"the reply to a submit", read_whole_submit},
    {"a reply that was cut short", read_cut_submit},
    {"a refusal of the vendor's", read_refused_submit},
    {"the reply to a poll", read_poll},
    {"the reply to a probe", read_threads},
    {"writing a submit", write_submit},
    {"a configuration", read_config},
    {"a configuration full of mistakes", read_bad_config},
    {"an HTTP connection", serve_http},
};
const size_t story_count = sizeof(stories) / sizeof(stories[0]);
