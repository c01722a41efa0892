/* Replies that callers do not read: counted over all connections and bounded. */
#include "http/http_unsent.h"

#include "base/assert.h"
#include "http/http_conn.h"
#include "http/http_private.h"
#include "http/http_write.h"

#include <sys/socket.h>

#define FIRST_RANK_BYTES 8192
/* How many connections that do read are skipped in one search, so that it ends. */
#define CHANCES 16

void http_unsent_open(struct http_server *server)
{
    for (int i = 0; i < HTTP_UNSENT_RANKS; i++)
        list_init(&server->unsent[i]);
}

/* The connection's memory, which is more than its unsent bytes. */
static size_t memory_of(const struct http_conn *conn)
{
    const struct http_outbox *outbox = conn->outbox;
    return conn->held_bytes + (outbox == NULL ? 0 : outbox->pending.room + outbox->flying.room);
}

static uint8_t rank_of(const struct http_conn *conn)
{
    const size_t bytes = conn->held_bytes + http_write_queued(conn);
    uint8_t rank = 0;
    while (rank < HTTP_UNSENT_RANKS - 1 && bytes >= (size_t)FIRST_RANK_BYTES << rank)
        rank++;
    return rank;
}

void http_unsent_clear(struct http_conn *conn)
{
    conn->server->unsent_bytes -= conn->unsent_counted;
    conn->unsent_counted = 0;
    list_unlink(&conn->unsent);
}

/* Moves the connection to the end of a list only when it is new or changes its rank. */
static void count(struct http_conn *conn)
{
    const size_t bytes = memory_of(conn);
    if (bytes == 0) {
        http_unsent_clear(conn);
        return;
    }
    const bool is_new = conn->unsent_counted == 0;
    conn->server->unsent_bytes += bytes;
    conn->server->unsent_bytes -= conn->unsent_counted;
    conn->unsent_counted = bytes;
    const uint8_t rank = rank_of(conn);
    if (!is_new && rank == conn->unsent_rank)
        return;
    list_unlink(&conn->unsent);
    conn->unsent_rank = rank;
    list_append(&conn->server->unsent[rank], &conn->unsent);
}

static struct http_conn *first_of_largest(struct http_server *server)
{
    for (int rank = HTTP_UNSENT_RANKS - 1; rank >= 0; rank--) {
        struct list *first = list_first(&server->unsent[rank]);
        if (first != NULL)
            return CONTAINER_OF(first, struct http_conn, unsent);
    }
    UNREACHABLE();
}

/* Finds the connection with the most unsent bytes, the oldest first; one that has read meanwhile
 * goes to the end of its list. */
static struct http_conn *find_victim(struct http_server *server)
{
    for (int chances = CHANCES; chances > 0; chances--) {
        struct http_conn *conn = first_of_largest(server);
        if (conn->outbox == NULL ||
            !http_write_has_progress(conn->outbox, &conn->outbox->unsent_mark))
            return conn;
        list_unlink(&conn->unsent);
        list_append(&server->unsent[conn->unsent_rank], &conn->unsent);
    }
    return first_of_largest(server);
}

/* Closes with a reset: otherwise the kernel would keep its own buffer for minutes, for a peer that
 * does not read. */
static void close_unread(struct http_conn *conn)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    uv_os_fd_t fd;
    if (uv_fileno(&conn->uv.handle, &fd) == 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    conn->server->counters.unread++;
    http_conn_close(conn);
}

void http_unsent_settle(struct http_conn *conn)
{
    if (conn->is_closing || (conn->unsent_counted == 0 && memory_of(conn) == 0))
        return;
    struct http_server *server = conn->server;
    count(conn);
    while (server->unsent_bytes > server->options.unsent_bytes)
        close_unread(find_victim(server));
}
