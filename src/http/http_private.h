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
/* Heads and chunks take time to parse, so less of them: hundreds of others may be waiting for their turn. */
#define HTTP_PARSE_BYTES 16384
/* Replies gathered for one connection before they are written: whoever does not read is noticed then. */
#define HTTP_GATHER_BYTES (64 * 1024)
/* What may queue behind a slow reader or a held exchange: above it no further request is taken, and a
 * reply that comes nevertheless, to one taken earlier, closes the connection. */
#define HTTP_QUEUE_BYTES (256 * 1024)
/* Requests that arrive ahead of their turn are kept up to here, then reading stops. */
#define HTTP_AHEAD_BYTES 16384
/* Half-sent requests up to this size are small. Nearly all are, and come in two pieces at most, so that they
 * take their memory for a moment only: they must not be refused because of senders of large bodies. */
#define HTTP_SMALL_BYTES 16384
/* The last part of options.partial_bytes, one in so many, is for small requests alone: of the usual 64 MiB
 * room for 512 at the same moment. */
#define HTTP_SMALL_SHARE 8
/* A slow reader keeps its connection by taking this much within one write timeout. */
#define HTTP_PROGRESS_BYTES 16384
/* Of what a socket did not take libuv gets only this much, to tell us when it takes more: the rest stays
 * ours, and can be given back the moment its connection is closed. */
#define HTTP_FLYING_BYTES 2048
/* One connection's requests worked off before others have their turn: a pipeline may hold hundreds. */
#define HTTP_TURN_REQUESTS 64
/* And all connections' within one turn of the loop: whoever comes later waits in line for the next. A request that has
 * begun is finished, so that the largest counts on top. */
#define HTTP_TURN_NS UINT64_C(3000000)
/* What the end of a turn has when its poll took all its time: those who wait in line must get on, too. */
#define HTTP_LATE_NS UINT64_C(1000000)
/* The clock is looked at for every so many reads: a connection that hung up costs up to 15 us. */
#define HTTP_TURN_READS 8
/* When so many have to wait for a later poll there may be thousands, and this one is cut short. */
#define HTTP_TURN_DEFERRED 256
/* Deadlines that pass together, after a standstill or because callers came together, are seen to at this pace: a
 * refusal takes up to 20 us. */
#define HTTP_TURN_EXPIRED 64
/* Connections with unsent replies, sorted by how much that is: below 8 KiB, 16 KiB, ..., and the rest. */
#define HTTP_UNSENT_RANKS 12
/* A peer that shut its sending side (nc, some HTTP/1.0 clients) may still be reading, but so looks one that
 * hung up. Replies that come this soon, journaled ones included, still reach it; then it counts as gone. */
#define HTTP_HALF_CLOSED_MS 250
/* Enough that a storm of held requests does not go through malloc each time, 140 bytes apiece. */
#define HTTP_SPARE_EXCHANGES 4096
/* How long we listen for the peer's end after refusing it. */
#define HTTP_LINGER_MS 1000
/* Whoever is taken beyond the cap must be quick: others wait for its place. */
#define HTTP_RESERVE_MS 2000
/* Connections that are closed, but whose memory goes with the next turn only. */
#define HTTP_CLOSING_CONNS 64
/* Descriptors left to the vendor's connections, the journal, the log and the listeners. */
#define HTTP_RESERVED_FILES 128

/* What a caller_id can tell apart; far beyond any process's descriptors. */
#define HTTP_CONNECTIONS_MAX (1u << 24)

/* What a connection may be waiting for; each has one constant timeout, so that a plain list per kind
 * is sorted by itself and arming costs no more than a list operation. */
enum http_due {
    HTTP_DUE_IDLE,  /* the next request: closed silently */
    HTTP_DUE_HEAD,  /* the rest of a head, from its first byte: 408 */
    HTTP_DUE_BODY,  /* the rest of a body, from the end of its head: 408 */
    HTTP_DUE_WRITE, /* a reader that takes what we wrote: closed unless it made progress */
    HTTP_DUE_HALF,  /* the reply for a peer that shut its sending side: then it counts as gone */
    HTTP_DUE_RESERVE, /* the whole request of a connection beyond the cap, from its accept: closed silently */
    HTTP_DUE_LINGER, /* the peer's end after our last reply, so that a reset does not eat it */
    HTTP_DUE_COUNT   /* nothing: an exchange is held, and its deadline is the engine's */
};

/* One request and its reply. */
struct http_exchange {
    struct list link; /* in http_conn.exchanges, in the order of the requests */
    struct http_note note;
    char *reply; /* owned; finished, waiting for its turn; NULL while not given */
    size_t reply_bytes;
    uint64_t since_ms; /* when it was read */
    uint16_t number;   /* in the connection, for the caller_id */
    bool is_head;      /* the reply has no body */
    bool is_old;       /* HTTP/1.0: keep-alive must be said */
    bool keeps_alive;  /* the client wants the connection afterwards */
    bool is_held;      /* its caller asked to be kept waiting */
    bool is_long;      /* nothing more is read before its reply */
    bool is_ours;      /* a refusal: no handler knows of it */
    bool closes;       /* the finished reply said so */
};

/* Bytes of requests not yet whole, or ahead of their turn; absent on an idle connection. */
struct http_input {
    struct http_parse parse;
    struct buf bytes;
    size_t counted; /* its share of http_server.partial_bytes */
};

/* Bytes that the socket did not take; absent while it keeps up. */
struct http_outbox {
    uv_write_t request;
    struct http_conn *conn;
    struct buf pending; /* not given to libuv yet, but for the part that is gone */
    size_t gone;        /* of pending, from its start */
    struct buf flying;  /* a copy of the next bytes, libuv's until on_written */
    bool is_flying;
    uint64_t sent;        /* bytes gone so far */
    uint64_t sent_mark;   /* as of the last look of the write deadline */
    uint64_t unsent_mark; /* as of the last look for somebody to close */
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
    struct list dirty;          /* in http_server.dirty while the turn's end has to look at it */
    struct http_input *input;   /* owned, may be NULL */
    struct http_outbox *outbox; /* owned, may be NULL */
    size_t held_bytes;          /* of finished replies waiting for their turn */
    struct list beyond;         /* in http_server.beyond while it is one beyond the cap */
    uint64_t since_ms;          /* and since when */
    struct list unsent;         /* in http_server.unsent[] while it has unsent replies */
    size_t unsent_counted;      /* its share of http_server.unsent_bytes */
    uint64_t round;             /* when it was last read */
    uint16_t waiting;           /* exchanges in the list */
    uint16_t last_number;
    uint8_t due_kind; /* enum http_due */
    uint8_t unsent_rank;
    uint8_t matched;     /* beyond the cap: bytes of the request that are as they must be */
    bool is_reserve : 1; /* beyond the cap */
    bool is_judged : 1;  /* and it is one of those for whom that is */
    bool is_post : 1;
    bool is_unix : 1;
    bool is_reading : 1;
    bool is_deaf : 1;      /* further bytes are dropped: the last request has been read */
    bool is_refused : 1;   /* bytes were or may be left unread: linger */
    bool is_ended : 1;     /* the peer will send no more */
    bool is_last_sent : 1; /* the reply that closes was put out: close when it is written */
    bool is_lingering : 1;
    bool is_closing : 1;
    bool is_yielding : 1; /* more requests are at hand, but others have their turn first */
    bool is_deferred : 1; /* it has bytes to read, but there was no time for them yet */
    bool is_long : 1;     /* its newest exchange is */
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
    bool has_pending; /* libuv accepted one and waits for us to take it: that is the pause */
    bool is_closing;
    bool is_unix;
    char *path;             /* owned; of a unix socket that we made, else NULL */
    uint64_t device, inode; /* of the path as we made it, so that a successor's is left alone */
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
    uint32_t cap, reserve;           /* connections that may be open, and those beyond */
    uint32_t cap_used, reserve_used; /* without those that are closing */
    struct list beyond;              /* connections beyond the cap, the oldest first */
    uint64_t
        crowd_due_ms; /* when one of them gives way to somebody who waits; UINT64_MAX: nobody does */
    struct list listeners;
    struct list dirty; /* connections that the end of the turn looks at */
    struct list spare; /* owned; exchanges to use again */
    uint32_t spare_count;
    struct http_due_list due[HTTP_DUE_COUNT];
    uv_timer_t timer;      /* to the earliest deadline */
    uv_prepare_t prepare;  /* the end of a turn: writes what it gathered */
    uv_check_t check;      /* after the poll: expiry, when input that was waiting has been read */
    uv_signal_t cut;       /* ends a poll that goes on and on */
    uv_idle_t idle;        /* keeps the loop from sleeping while the two above are due */
    uint64_t timer_due_ms; /* UINT64_MAX when not armed */
    bool is_expiring;
    bool is_draining;
    bool is_closing;
    uint32_t handles; /* not yet closed, besides connections */
    void (*on_closed)(void *context);
    void *closed_context;

    uint64_t round;   /* of reading: in each everybody is read once */
    uint64_t turn_ns; /* since when this poll, or this turn's end, works bytes off; 0: not yet */
    uint32_t turn_deferred; /* connections that have to wait for a later turn with their bytes */
    uint32_t turn_reads;    /* since then */
    bool is_late;           /* and when it was last asked that was too long ago */
    uint32_t taken;         /* requests of the connection that is being worked off */

    struct http_conn *gathering;       /* whose input is being worked off; its replies go to out */
    const struct http_conn *filled_by; /* whose last read took all it could; may be NULL */
    struct buf out;
    struct http_parse parse;               /* of a request that lies whole in read_bytes */
    uint64_t partial_bytes;                /* memory of all inputs */
    uint64_t partial_large_bytes;          /* up to here large inputs are kept, too */
    struct list unsent[HTTP_UNSENT_RANKS]; /* connections, who is there longest first */
    uint64_t unsent_bytes;                 /* memory of all their unsent replies */
    struct http_counters counters;
    struct histogram answer_times, held_times;

    uint64_t date_due_ms;
    char date[40]; /* "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" */
    char forwarded[HTTP_PEER_TEXT_MAX];
    char read_bytes[HTTP_READ_BYTES];
};

/* http_conn.c: the life of a connection. */

/* Takes the connection that libuv accepted for the listener. */
void http_conn_accept(struct http_listener *listener, bool is_reserve);

/* Detaches every exchange, tells the handler, and closes. Idempotent. */
void http_conn_close(struct http_conn *conn);

/* Answers with our own refusal, after what is ahead of it, and stops listening. */
void http_conn_refuse(struct http_conn *conn, uint16_t status, const char *mistake);
/* The same for a request whose line may have been understood: its path may have other words for it. */
void http_conn_refuse_request(struct http_conn *conn, const struct http_parse *parse,
                              const char *base, uint16_t status, const char *mistake);

/* After anything happened: takes further requests if their turn came, writes, then settles reading,
 * deadline and end of the connection. */
void http_conn_settle(struct http_conn *conn);

/* http_reserve.c: connections beyond the cap. */

/* Closes an idle connection in favour of a new one; false when there is none to close. */
bool http_reserve_make_room(struct http_server *server);

/* Closes a connection beyond the cap in favour of a new one; false when none has been silent for long enough, and then
 * listening goes on as soon as one has. */
bool http_reserve_push_out(struct http_server *server);

enum http_reserve_verdict { HTTP_RESERVE_UNSURE, HTTP_RESERVE_MINE, HTTP_RESERVE_OTHER };

/* Looks at the next bytes of a connection beyond the cap, until it is sure. */
enum http_reserve_verdict http_reserve_judge(struct http_conn *conn, const char *bytes, size_t len);

/* http_input.c: bytes become requests. */

/* Works off bytes that came in, or with NULL those kept for later. Replies land in server->out. */
void http_input_take(struct http_conn *conn, char *bytes, size_t len);
void http_input_free(struct http_conn *conn);

/* The most memory that one request takes until it is whole. */
uint64_t http_input_most(const struct http_limits *limits);

/* How much of options.partial_bytes large requests may take: all but a share for small ones, yet at least
 * most, so that the largest request always fits an empty server. */
uint64_t http_input_most_of_large(const struct http_options *options, uint64_t most);

/* Are there bytes at hand that were not worked off? */
bool http_input_has_more(const struct http_conn *conn);

/* Has the next request's turn come? */
bool http_input_may_take(const struct http_conn *conn);

/* http_exchange.c: requests out, replies in, in order. */

void http_exchange_begin(struct http_conn *conn, const struct http_parse *parse, const char *base);
struct http_exchange *http_exchange_add(struct http_conn *conn);
void http_exchange_answer(struct http_conn *conn, struct http_exchange *exchange,
                          const struct http_reply *reply);
void http_exchange_free(struct http_conn *conn, struct http_exchange *exchange);
/* Forgets all of them and tells the handler about those that were not answered. */
void http_exchange_drop(struct http_conn *conn);

/* Tells the peer to go on with the body it announced, if it asked and its turn came. */
void http_exchange_continue(struct http_conn *conn);

/* http_head.c: replies as bytes. */
void http_head_format(struct http_server *server, struct buf *out,
                      const struct http_exchange *exchange, const struct http_reply *reply,
                      bool closes);

/* http_write.c: bytes to sockets. */

/* Where the next bytes for this connection go. */
struct buf *http_write_sink(struct http_conn *conn);
/* False when the connection broke and was closed. */
bool http_write_flush(struct http_conn *conn);
/* Did the peer take enough since the mark? Moves the mark. */
bool http_write_has_progress(const struct http_outbox *outbox, uint64_t *mark);
/* Of a connection that closes: gives back all but what libuv still has. */
void http_write_forget(struct http_conn *conn);
void http_write_free(struct http_conn *conn);
size_t http_write_queued(const struct http_conn *conn);

/* http_unsent.c: what all unsent replies may take together. */
void http_unsent_open(struct http_server *server);
/* Counts what the connection holds now; above the limit those who hold most are closed, perhaps this one. */
void http_unsent_settle(struct http_conn *conn);
/* Of a connection that closes. */
void http_unsent_clear(struct http_conn *conn);

/* http_clock.c: deadlines, and the end of a turn. */
void http_clock_open(struct http_server *server);
void http_clock_close(struct http_server *server, uv_close_cb on_closed);
void http_clock_set(struct http_conn *conn, enum http_due kind);
void http_clock_clear(struct http_conn *conn);
/* Wakes the listeners that pause for the reserve. */
void http_clock_set_crowd(struct http_server *server, uint64_t due_ms);
/* The connection is looked at before the loop sleeps. */
void http_clock_touch(struct http_conn *conn);
/* Looks for passed deadlines in this turn and the next ones. */
void http_clock_expire(struct http_server *server);
/* Ends the poll that is under way. */
void http_clock_cut(struct http_server *server);
/* Was this turn of the loop long enough? */
bool http_clock_is_late(struct http_server *server);

/* http_listen.c: listeners and the connection cap. */
void http_listen_resume(struct http_server *server);
void http_listen_close(struct http_server *server);

/* http_server.c */
void http_server_count_closed(struct http_server *server);

#endif
