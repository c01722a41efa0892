/* One connection of the HTTP server, for the http*.c files only, since it includes library headers. */
#ifndef SOLVEGATE_SIM_HTTP_PRIVATE_H
#define SOLVEGATE_SIM_HTTP_PRIVATE_H

#include "sim/http.h"

#include <llhttp.h>
#include <uv.h>

#define READ_BYTES 65536
/* A pingback URL and a data-s value fit many times over. */
#define TARGET_BYTES_MAX 65536
#define HEADER_BYTES_MAX 32768
/* Replies to pipelined requests are gathered up to here, then written. */
#define GATHER_BYTES 262144
/* Limit of the bytes that a client may send while its reply is held back. */
#define PENDING_BYTES_MAX 1048576
/* The largest reply is a full ledger of long entries. */
#define REPLY_BYTES_MAX (1024UL * 1024 * 1024)
/* Time for the client to read the last reply before the socket closes. */
#define LINGER_MS 1000

/* Bytes of the message being parsed: referenced in the read buffer, and copied before that is
 * reused. */
struct piece {
    struct slice here;
    struct buf kept;
};

enum conn_phase {
    CONN_READING,   /* parses; timer: idle */
    CONN_FLUSHING,  /* the socket is full; back to reading once it is written; timer: give up */
    CONN_HOLDING,   /* reply in held; timer: release */
    CONN_DRIPPING,  /* reply in held; timer: next byte */
    CONN_WAITING,   /* no reply yet, perhaps never; no timer */
    CONN_LINGERING, /* last bytes and FIN are being sent, input is discarded; timer: end */
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
    uint64_t drip_ms; /* delay between two bytes of a dripping reply */
    enum conn_phase phase;
    struct piece target;
    struct piece name;
    struct piece value;
    struct piece type;
    struct piece body;
    size_t header_bytes;
    uint32_t hosts;
    int bad_status; /* the status with which we stopped parsing, or 0 */
    bool expects_continue;
    bool is_last;         /* close after the current reply */
    bool is_read_stopped; /* the client sent too much ahead */
    struct buf pending;   /* input after the current request */
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
    struct buf body; /* of the current reply */
    struct buf out;  /* replies of the connection being served */
    llhttp_settings_t settings;
    uint64_t date_ms; /* time of the date line */
    char date[40];
    char in[READ_BYTES]; /* shared: bytes needed longer are copied */
};

/* Back to reading after a held reply. */
void conn_resume(struct conn *conn);

void conn_linger(struct conn *conn);
void conn_limit_write(struct conn *conn);
void conn_close(struct conn *conn);
void conn_reset(struct conn *conn);

#endif
