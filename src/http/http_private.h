/* The inside of the HTTP frontend, shared by the http_*.c files only: server, connections, exchanges. */
#ifndef SOLVEGATE_HTTP_HTTP_PRIVATE_H
#define SOLVEGATE_HTTP_HTTP_PRIVATE_H

#include "base/list.h"
#include "base/slab.h"
#include "http/http.h"
#include "http/http_parse.h"
#include "http/http_peer.h"

#include <uv.h>

/* One read takes at most this much; all connections share the one buffer. */
#define HTTP_READ_BYTES 65536
/* Heads and chunks take time to parse, so they are read in smaller pieces: hundreds of connections
 * may be waiting. */
#define HTTP_PARSE_BYTES 16384
/* Replies gathered for one connection before they are written, which reveals a peer that does not
 * read. */
#define HTTP_GATHER_BYTES (64 * 1024)
/* Limit of the bytes queued behind a slow reader or a held exchange: above it no further request is
 * taken, and a further reply to an earlier request closes the connection. */
#define HTTP_QUEUE_BYTES (256 * 1024)
/* Pipelined requests are kept up to this size, then reading stops. */
#define HTTP_AHEAD_BYTES 16384
/* Incomplete requests up to this size are small. Nearly all are, and arrive in at most two pieces,
 * so they take memory only briefly: large bodies of other senders must not cause their refusal. */
#define HTTP_SMALL_BYTES 16384
/* The last 1/8 of options.partial_bytes is for small requests only: with the usual 64 MiB, room for
 * 512 at the same time. */
#define HTTP_SMALL_SHARE 8
/* When there is no room, a half-sent request that got less than this much more for so long gives way
 * to another: strangers who begin large bodies and stall must not make others be refused. */
#define HTTP_STALLED_BYTES 4096
#define HTTP_STALLED_MS 500
/* How many may give way to one read. */
#define HTTP_STALLED_MOST 64
/* A slow reader keeps its connection if it takes this much within one write timeout. */
#define HTTP_PROGRESS_BYTES 16384
/* When a socket is full, libuv gets only this much, to tell us when it takes more: the rest stays
 * ours and can be freed the moment the connection is closed. */
#define HTTP_FLYING_BYTES 2048
/* Requests of one connection processed before others have their turn: a pipeline may hold hundreds. */
#define HTTP_TURN_REQUESTS 64
/* Time for all connections within one turn of the loop; later ones wait for the next. A request
 * that has begun is finished, so the largest one comes on top. */
#define HTTP_TURN_NS UINT64_C(3000000)
/* A body of this size takes a handler milliseconds: one is processed per turn, and at its beginning or
 * at its end. */
#define HTTP_HEAVY_BYTES (128 * 1024)
#define HTTP_HEAVY_NS UINT64_C(1000000)
/* Time at the end of a turn whose poll used it all: connections that wait in line must progress,
 * too. */
#define HTTP_LATE_NS UINT64_C(1000000)
/* The clock is read once per this many reads: a connection that hung up costs up to 15 us. */
#define HTTP_TURN_READS 8
/* If this many connections have to wait for a later poll, there may be thousands: the poll is cut
 * short. */
#define HTTP_TURN_DEFERRED 256
/* Deadlines handled per turn, since many may pass together after a standstill or when callers came
 * together: a refusal takes up to 20 us. */
#define HTTP_TURN_EXPIRED 64
/* Connections with unsent replies are sorted by size: below 8 KiB, 16 KiB, ..., and the rest. */
#define HTTP_UNSENT_RANKS 12
/* A peer that shut its sending side (nc, some HTTP/1.0 clients) may still be reading, but one that
 * hung up looks the same. Replies within this time, journaled ones included, still reach it; then
 * it counts as gone. */
#define HTTP_HALF_CLOSED_MS 250
/* Enough to keep a burst of held requests from calling malloc each time; 140 bytes each. */
#define HTTP_SPARE_EXCHANGES 4096
/* How long we wait for the peer's end after refusing it. */
#define HTTP_LINGER_MS 1000
/* A connection beyond the cap must be quick, since others wait for its place. */
#define HTTP_RESERVE_MS 2000
/* Callers send their request with the connection; a busy machine may take its time. */
#define HTTP_FIRST_MS 1000
/* Extra entries for closed connections, whose memory is freed in the next turn. */
#define HTTP_CLOSING_CONNS 64
/* Descriptors left to the vendor's connections, the journal, the log and the listeners. */
#define HTTP_RESERVED_FILES 128

/* The most that a caller_id can distinguish; far beyond any process's descriptors. */
#define HTTP_CONNECTIONS_MAX (1u << 24)

/* The event that a connection waits for; each has one constant timeout, so a plain list per kind is
 * always sorted and arming costs one list operation. */
enum http_due {
    HTTP_DUE_IDLE,    /* the next request; on timeout closed silently */
    HTTP_DUE_FIRST,   /* the first request, while draining; on timeout closed silently */
    HTTP_DUE_HEAD,    /* the rest of a head, counted from its first byte; on timeout 408 */
    HTTP_DUE_BODY,    /* the rest of a body, counted from the end of its head; on timeout 408 */
    HTTP_DUE_WRITE,   /* the peer to read; on timeout closed unless it made progress */
    HTTP_DUE_HALF,    /* our reply to a half-closed peer; on timeout it counts as gone */
    HTTP_DUE_RESERVE, /* the request beyond the cap, from accept; on timeout closed silently */
    HTTP_DUE_LINGER,  /* the peer's end, so that a reset does not destroy our last reply */
    HTTP_DUE_COUNT    /* none: an exchange is held, and its deadline is the engine's */
};

/* One request and its reply. */
struct http_exchange {
    struct list link; /* in http_conn.exchanges, in the order of the requests */
    struct http_note note;
    char *reply; /* owned; complete, waiting for its turn; NULL until given */
    size_t reply_bytes;
    uint64_t since_ms; /* when it was read */
    uint16_t number;   /* in the connection, for the caller_id */
    bool is_head;      /* the reply has no body */
    bool is_old;       /* HTTP/1.0: the reply needs Connection: keep-alive */
    bool keeps_alive;  /* the client wants to keep the connection */
    bool is_held;      /* its caller asked to be held */
    bool is_long;      /* nothing more is read before its reply */
    bool is_ours;      /* our own refusal: no handler knows of it */
    bool closes;       /* the reply has Connection: close */
};

/* Bytes of incomplete requests, or of requests ahead of their turn; absent on an idle connection. */
struct http_input {
    struct http_parse parse;
    struct buf bytes;
    size_t counted;   /* its share of http_server.partial_bytes */
    bool is_large;    /* more than HTTP_SMALL_BYTES */
    struct list link; /* in http_server.partial[is_large] */
    struct http_conn *conn;
    uint64_t heard_ms;  /* when it last got HTTP_STALLED_BYTES more */
    size_t heard_bytes; /* how many it had then */
};

/* Bytes that the socket did not accept; absent while the peer keeps up. */
struct http_outbox {
    uv_write_t request;
    struct http_conn *conn;
    struct buf pending; /* not yet given to libuv, except for the first `gone` bytes */
    size_t gone;        /* how much of pending is gone */
    struct buf flying;  /* a copy of the next bytes, owned by libuv until on_written */
    bool is_flying;
    uint64_t sent;        /* bytes gone so far */
    uint64_t sent_mark;   /* value at the write deadline's last check */
    uint64_t unsent_mark; /* value at the last search for a connection to close */
};

struct http_conn {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    struct http_server *server;
    slab_id id;
    struct list exchanges; /* waiting for their reply or their turn, oldest first */
    struct list due;       /* in http_server.due[due_kind] */
    uint64_t due_ms;
    struct list dirty;          /* in http_server.dirty until the end of the turn handles it */
    struct http_input *input;   /* owned, may be NULL */
    struct http_outbox *outbox; /* owned, may be NULL */
    size_t held_bytes;          /* of finished replies waiting for their turn */
    struct list beyond;         /* in http_server.beyond while it is beyond the cap */
    uint64_t since_ms;          /* the time since which it is */
    struct list unsent;         /* in http_server.unsent[] while it has unsent replies */
    size_t unsent_counted;      /* its share of http_server.unsent_bytes */
    uint64_t round;             /* the round in which it was last read */
    uint16_t waiting;           /* exchanges in the list */
    uint16_t last_number;
    uint8_t due_kind; /* enum http_due */
    uint8_t unsent_rank;
    uint8_t matched;     /* beyond the cap: how many bytes match a reserved path so far */
    uint8_t candidates;  /* and which paths do: bits */
    bool is_reserve : 1; /* beyond the cap */
    bool is_judged : 1;  /* and its request is for a reserved path */
    bool is_post : 1;
    bool is_unix : 1;
    bool is_reading : 1;
    bool is_deaf : 1;      /* further bytes are dropped: the last request was read */
    bool is_refused : 1;   /* bytes may be left unread: linger */
    bool is_ended : 1;     /* the peer will send no more */
    bool is_last_sent : 1; /* the closing reply was written to the output: close when it is sent */
    bool is_lingering : 1;
    bool is_closing : 1;
    bool is_yielding : 1; /* more requests are buffered, but others have their turn first */
    bool is_deferred : 1; /* it has bytes to read for which there was no time yet */
    bool is_long : 1;     /* its newest exchange is long */
    bool is_doomed : 1;   /* broke a limit inside http_reply: closed at the end of the turn */
    bool is_peer_known : 1;
    bool is_peer_trusted : 1;
    uint8_t peer_bytes;
    char peer[HTTP_PEER_TEXT_MAX];
};

struct http_listener {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    struct http_server *server;
    struct list link; /* in http_server.listeners */
    bool has_pending; /* libuv accepted one that we have not taken: listening pauses */
    bool is_closing;
    bool is_unix;
    char *path;             /* owned; of a unix socket that we made, else NULL */
    uint64_t device, inode; /* of the path as we made it, to recognise a successor's */
};

struct http_due_list {
    struct list conns; /* the earliest first */
    uint32_t timeout_ms;
    uint32_t count;
};

struct http_server {
    uv_loop_t *loop; /* borrowed */
    struct http_handlers handlers;
    struct http_options options;
    struct http_limits limits;
    struct slab conns;
    uint32_t cap, reserve;           /* connections up to the cap, and beyond it */
    uint32_t cap_used, reserve_used; /* not counting those that are closing */
    struct list beyond;              /* connections beyond the cap, oldest first */
    uint64_t crowd_due_ms; /* when a waiting one can replace one of them; UINT64_MAX: none waits */
    struct list listeners;
    struct list dirty; /* connections for the end of the turn */
    struct list spare; /* owned; exchanges for reuse */
    uint32_t spare_count;
    struct http_due_list due[HTTP_DUE_COUNT];
    uv_timer_t timer;      /* fires at the earliest deadline */
    uv_prepare_t prepare;  /* the end of a turn: writes the gathered replies */
    uv_check_t check;      /* after the poll: expires deadlines, once waiting input was read */
    uv_signal_t cut;       /* ends a poll that takes too long */
    uv_idle_t idle;        /* keeps the loop from sleeping while one of the two above is due */
    uint64_t timer_due_ms; /* UINT64_MAX when not armed */
    bool is_expiring;
    bool is_draining;
    bool is_closing;
    uint32_t handles; /* open handles, besides connections */
    void (*on_closed)(void *context);
    void *closed_context;

    uint64_t round;   /* number of the round; each connection is read once in a round */
    uint64_t turn_ns; /* start of the time budget of this poll or turn's end; 0: not started */
    uint32_t turn_deferred; /* connections whose bytes have to wait for a later turn */
    uint32_t turn_reads;    /* reads since turn_ns */
    bool is_late;           /* the budget was used up at the last check */
    bool is_ending;         /* the end of the turn, after its poll */
    bool had_heavy;         /* a heavy request was processed in this turn */
    bool has_heavy_waiting; /* others yield and wait in line */
    uint32_t taken;         /* requests taken from the connection being processed */

    struct http_conn *gathering;       /* the connection being processed; its replies go to out */
    const struct http_conn *filled_by; /* whose last read filled the buffer; may be NULL */
    struct buf out;
    struct http_parse parse;               /* of a request that is complete in read_bytes */
    uint64_t partial_bytes;                /* memory of all inputs */
    uint64_t partial_large_bytes;          /* limit up to which large inputs are kept */
    uint64_t partial_large_used;           /* what large inputs take of partial_bytes */
    struct list partial[2];                /* small and large inputs, heard of longest ago first */
    struct list unsent[HTTP_UNSENT_RANKS]; /* connections by size, oldest first */
    uint64_t unsent_bytes;                 /* memory of all their unsent replies */
    struct http_counters counters;
    struct histogram answer_times, held_times;

    uint64_t date_due_ms;
    char date[40]; /* "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" */
    char forwarded[HTTP_PEER_TEXT_MAX];
    char read_bytes[HTTP_READ_BYTES];
};

#endif
