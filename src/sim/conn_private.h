/* One connection of the HTTP server, for the http*.c files only, hence the library headers. */
#ifndef SOLVEGATE_SIM_CONN_PRIVATE_H
#define SOLVEGATE_SIM_CONN_PRIVATE_H

#include "sim/http.h"

#include <llhttp.h>
#include <uv.h>

#define READ_BYTES 65536
/* A pingback URL and a data-s value fit many times over. */
#define TARGET_BYTES_MAX 65536
#define HEADER_BYTES_MAX 32768
/* Replies to pipelined requests are gathered up to here, then written. */
#define GATHER_BYTES 262144
/* What a client may send ahead while its reply is held back. */
#define PENDING_BYTES_MAX 1048576
/* A full ledger of long entries is the largest reply there is. */
#define REPLY_BYTES_MAX (1024UL * 1024 * 1024)
/* After a last reply the client gets this long to read it before the socket goes. */
#define LINGER_MS 1000

/* Bytes of the message being parsed: in place while they last, copied when the read buffer goes. */
struct piece {
    struct slice here;
    struct buf kept;
};

enum conn_phase {
    CONN_READING,   /* parses; timer: idle */
    CONN_FLUSHING,  /* the socket is full; back to reading when it was written; timer: give up */
    CONN_HOLDING,   /* reply in held; timer: release */
    CONN_DRIPPING,  /* reply in held; timer: next byte */
    CONN_WAITING,   /* no reply yet, maybe never; no timer */
    CONN_LINGERING, /* last bytes and FIN on their way, discards input; timer: end */
    CONN_CLOSED,    /* uv_close called */
};

struct conn {
    uv_tcp_t tcp;
    uv_shutdown_t shutdown;
    llhttp_t parser;
    struct http_server *server;
    slab_id id;
    struct wheel_timer timer;
    uint64_t active_ms;
    uint64_t drip_ms; /* between two bytes of a dripping reply */
    enum conn_phase phase;
    struct piece target;
    struct piece name;
    struct piece value;
    struct piece type;
    struct piece body;
    size_t header_bytes;
    uint32_t hosts;
    int bad_status; /* why parsing was stopped by us, or 0 */
    bool expects_continue;
    bool is_last;         /* close after the reply at hand */
    bool is_read_stopped; /* too much was sent ahead */
    struct buf pending;   /* input behind the request at hand */
    struct buf held;      /* rendered reply */
};

struct http_server {
    uv_loop_t *loop;
    uv_tcp_t listener;
    bool is_listening;
    struct clock *clock;
    struct http_limits limits;
    http_handler handler;
    void *context;
    struct slab conns;
    struct buf body; /* of the reply being made */
    struct buf out;  /* replies of the connection being served */
    llhttp_settings_t settings;
    uint64_t date_ms; /* when date was made */
    char date[40];
    char in[READ_BYTES]; /* shared: what a connection needs longer is copied */
};

/* http_parse.c */
void conn_settings_init(llhttp_settings_t *settings);
void conn_parser_init(struct conn *conn);
void conn_parser_close(struct conn *conn);

/* Feeds bytes to the parser, serves complete requests, keeps what a held reply leaves over. */
void conn_feed(struct conn *conn, const char *data, size_t len);

/* Back to reading after a held reply. */
void conn_resume(struct conn *conn);

/* http_write.c */
/* Appends the reply to server->out or starts another delivery; true if parsing must stop here. */
bool conn_deliver(struct conn *conn, const struct http_reply *reply, bool is_head);

/* Writes server->out; what the socket does not take is queued. */
void conn_flush(struct conn *conn);

/* Moves the held reply out. */
void conn_send_held(struct conn *conn);
void conn_drip(struct conn *conn);
void conn_render(struct conn *conn, const struct http_reply *reply, struct buf *out, bool is_head);

/* http.c */
void conn_idle(struct conn *conn);
void conn_linger(struct conn *conn);
void conn_limit_write(struct conn *conn);
void conn_close(struct conn *conn);
void conn_reset(struct conn *conn);

#endif
