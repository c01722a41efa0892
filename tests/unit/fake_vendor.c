#include "fake_vendor.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

#define INPUT_MAX ((size_t)8 * 1024 * 1024)
#define FLOOD_CHUNK 65536

struct fake_write {
    uv_write_t request;
    struct fake_conn *conn;
    uint64_t flood_left;
    struct slice flood; /* borrowed: what to send again */
    char bytes[];
};

bool fake_is_submit(struct slice request)
{
    return slice_starts_with(request, SLICE_OF("POST /in.php "));
}

/* ---- connections -------------------------------------------------------------------------- */

static void on_conn_handle_closed(uv_handle_t *handle)
{
    struct fake_conn *conn = handle->data;
    if (--conn->handles_open > 0)
        return;
    list_unlink(&conn->link);
    conn->vendor->open--;
    buf_close(&conn->input);
    free(conn);
}

void fake_hang_up(struct fake_conn *conn)
{
    if (conn->is_closing)
        return;
    conn->is_closing = true;
    uv_close((uv_handle_t *)&conn->drip, on_conn_handle_closed);
    uv_close((uv_handle_t *)&conn->tcp, on_conn_handle_closed);
}

void fake_reset(struct fake_conn *conn)
{
    if (conn->is_closing)
        return;
    conn->is_closing = true;
    uv_close((uv_handle_t *)&conn->drip, on_conn_handle_closed);
    const int failed = uv_tcp_close_reset(&conn->tcp, on_conn_handle_closed);
    ASSERT(failed == 0);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct fake_conn *conn = handle->data;
    (void)suggested;
    char *place = buf_reserve(&conn->input, FLOOD_CHUNK);
    ASSERT(place != NULL);
    *out = uv_buf_init(place, FLOOD_CHUNK);
}

/* The length of the whole request at the front of the input; 0 while it is not whole. */
static size_t whole_request(struct slice input)
{
    const char *end = input.len == 0 ? NULL : memmem(input.data, input.len, "\r\n\r\n", 4);
    if (end == NULL)
        return 0;
    const size_t head = (size_t)(end - input.data) + 4;
    static const char name[] = "\r\nContent-Length: ";
    const char *length = memmem(input.data, head, name, sizeof(name) - 1);
    const size_t body = length == NULL ? 0 : strtoul(length + sizeof(name) - 1, NULL, 10);
    return input.len >= head + body ? head + body : 0;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct fake_conn *conn = stream->data;
    (void)buffer;
    if (count < 0) {
        fake_hang_up(conn);
        return;
    }
    buf_commit(&conn->input, (size_t)count);
    for (size_t len; !conn->is_closing && (len = whole_request(buf_slice(&conn->input))) > 0;) {
        const struct slice request = {.data = conn->input.data, .len = len};
        conn->requests++;
        conn->vendor->requests++;
        conn->vendor->charges += fake_is_submit(request);
        conn->vendor->script(conn, request);
        buf_consume(&conn->input, len);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct fake_vendor *vendor = listener->data;
    ASSERT(status == 0);
    struct fake_conn *conn = calloc(1, sizeof(*conn));
    ASSERT(conn != NULL);
    conn->vendor = vendor;
    conn->handles_open = 2;
    buf_init(&conn->input, INPUT_MAX);
    (void)uv_tcp_init(listener->loop, &conn->tcp);
    (void)uv_timer_init(listener->loop, &conn->drip);
    conn->tcp.data = conn;
    conn->drip.data = conn;
    list_append(&vendor->conns, &conn->link);
    const int failed = uv_accept(listener, (uv_stream_t *)&conn->tcp);
    ASSERT(failed == 0);
    (void)uv_tcp_nodelay(&conn->tcp, 1);
    vendor->accepted++;
    vendor->open++;
    if (vendor->open > vendor->most_open)
        vendor->most_open = vendor->open;
    (void)uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read);
}

/* ---- life --------------------------------------------------------------------------------- */

void fake_vendor_open(struct fake_vendor *vendor, uv_loop_t *loop, fake_script script)
{
    *vendor = (struct fake_vendor){.script = script};
    list_init(&vendor->conns);
    struct sockaddr_in address;
    (void)uv_ip4_addr("127.0.0.1", 0, &address);
    int failed = uv_tcp_init(loop, &vendor->listener);
    failed |= uv_tcp_bind(&vendor->listener, (const struct sockaddr *)&address, 0);
    failed |= uv_listen((uv_stream_t *)&vendor->listener, 1024, on_connection);
    int len = sizeof(address);
    failed |= uv_tcp_getsockname(&vendor->listener, (struct sockaddr *)&address, &len);
    ASSERT(failed == 0);
    vendor->listener.data = vendor;
    (void)snprintf(vendor->url, sizeof(vendor->url), "http://127.0.0.1:%d",
                   (int)ntohs(address.sin_port));
}

void fake_vendor_drop_all(struct fake_vendor *vendor)
{
    LIST_FOR_EACH_SAFE(link, &vendor->conns)
        fake_hang_up(CONTAINER_OF(link, struct fake_conn, link));
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct fake_vendor *vendor = handle->data;
    vendor->is_closed = true;
}

void fake_vendor_close(struct fake_vendor *vendor)
{
    fake_vendor_drop_all(vendor);
    uv_close((uv_handle_t *)&vendor->listener, on_listener_closed);
}

/* ---- answers ------------------------------------------------------------------------------ */

static void write_again(struct fake_write *write);

static void on_written(uv_write_t *request, int status)
{
    struct fake_write *write = CONTAINER_OF(request, struct fake_write, request);
    if (status == 0 && write->flood_left > 0 && !write->conn->is_closing)
        write_again(write);
    else
        free(write);
}

static void write_again(struct fake_write *write)
{
    const uv_buf_t buffer =
        uv_buf_init((char *)(uintptr_t)write->flood.data, (unsigned)write->flood.len);
    write->flood_left -=
        write->flood_left < write->flood.len ? write->flood_left : write->flood.len;
    write->conn->bytes_flooded += write->flood.len;
    if (uv_write(&write->request, (uv_stream_t *)&write->conn->tcp, &buffer, 1, on_written) != 0)
        free(write);
}

static void send_and_flood(struct fake_conn *conn, struct slice bytes, struct slice flood,
                           uint64_t limit)
{
    struct fake_write *write = malloc(sizeof(*write) + bytes.len);
    ASSERT(write != NULL);
    *write = (struct fake_write){.conn = conn, .flood = flood, .flood_left = limit};
    memcpy(write->bytes, bytes.data, bytes.len);
    const uv_buf_t buffer = uv_buf_init(write->bytes, (unsigned)bytes.len);
    if (uv_write(&write->request, (uv_stream_t *)&conn->tcp, &buffer, 1, on_written) != 0)
        free(write);
}

void fake_send(struct fake_conn *conn, struct slice bytes)
{
    send_and_flood(conn, bytes, SLICE_NONE, 0);
}

void fake_flood(struct fake_conn *conn, const char *head, const char *chunk, uint64_t limit)
{
    send_and_flood(conn, slice_from(head), slice_from(chunk), limit);
}

void fake_answer_with(struct fake_conn *conn, const char *status, const char *headers,
                      struct slice body)
{
    struct buf out;
    buf_init(&out, INPUT_MAX);
    buf_addf(&out, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n", status, body.len, headers);
    buf_add(&out, body);
    fake_send(conn, buf_slice(&out));
    buf_close(&out);
}

void fake_answer(struct fake_conn *conn, const char *body)
{
    fake_answer_with(conn, "200 OK", "", slice_from(body));
}

static void on_drip(uv_timer_t *timer)
{
    fake_send(timer->data, SLICE_OF("x"));
}

void fake_drip(struct fake_conn *conn, const char *start)
{
    fake_send(conn, slice_from(start));
    (void)uv_timer_start(&conn->drip, on_drip, 5, 5);
}
