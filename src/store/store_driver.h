/* The driver interface of the store port: a table of functions for each database that can hold the journal. */
#ifndef SOLVEGATE_STORE_STORE_DRIVER_H
#define SOLVEGATE_STORE_STORE_DRIVER_H

#include "store/row_values.h"
#include "store/store.h"

#include <solvegate/event.h>

/* The result of a call to the database. Anything but STORE_DONE leaves a reason in the backend's
 * why. */
enum store_result {
    STORE_DONE,
    STORE_RETRY, /* connection lost or database locked: the outcome is unknown, so send it again */
    STORE_NO_ROOM, /* nothing was written; it will fit once there is disk space */
    STORE_FAILED,  /* refused or lost for good: later writes cannot be trusted */
    STORE_REFUSED, /* another node adopted this one: nothing was written, and this run is over */
};

/* The wall clock was set: every COLUMN_TIME that was written before moves by by_ms. */
struct store_shift {
    int64_t by_ms;
    struct clocks now; /* the clocks afterwards */
};

#define STORE_NAME_MAX 256

/* A client's budget for one day, of all gateways together. */
struct store_budget {
    char client[STORE_NAME_MAX];
    uint64_t limit;
    uint64_t used;  /* by submits */
    uint64_t drawn; /* nobody else can get these units */
};
/* What a node says of its configuration, so that others can compare it with theirs (see config_parts.h); behind that it
 * may say that it still writes again what the store has lost, and what it has in its pools (store_demand.h), and
 * whom it adopted (gate/adoptions.h). */
#define STORE_PARTS_REWRITING " rewriting:1"
#define STORE_PARTS_MAX 640

/* A claim, and how it ended. */
struct store_asked {
    struct claim claim;
    uint32_t idempotency_ttl_ms; /* how long the claim's idempotency key is remembered */
    /* Set by the driver. */
    struct claimed claimed;
    bool has_solution;
    struct record solution;      /* owned, with a solution: its client is named below */
    char client[STORE_NAME_MAX]; /* "": that of the claim */
};

/* A draw of units, and how it ended: `drawn` is set by the driver. */
struct store_drawn {
    struct draw draw;
    struct drawn drawn;
};

/* A record, a release, a claim, a draw, a fact or the end of one in a batch, or a shift, which is in no batch. The loop
 * makes and frees it, the writer thread only reads it (and answers what was asked), since the blobs of a record are
 * counted without atomics. */
struct store_entry {
    struct store_entry *next;
    journal_seq seq;
    struct store_shift *shift; /* owned; NULL: it is none, as are the next four */
    struct store_asked *asked; /* owned */
    struct store_drawn *drawn; /* owned */
    struct release *release;   /* owned */
    struct fact *told;         /* owned: goes into the inbox */
    uint64_t forgotten;        /* number of a fact that leaves the inbox; 0: it is none */
    struct record record;      /* owned; without the six above it is a record */
    size_t client_len;
    char client[]; /* the client's name: its number may change before the entry is written */
};

static inline bool store_entry_is_record(const struct store_entry *entry)
{
    return entry->shift == NULL && entry->asked == NULL && entry->drawn == NULL &&
           entry->release == NULL && entry->told == NULL && entry->forgotten == 0;
}

/* Records, releases, facts, claims and draws that are written in one transaction, in this order: where a batch has them
 * in another one, nobody can tell the difference (see next_batch() of the writer). */
struct store_batch {
    const struct store_entry *first;
    uint32_t count;  /* its first entries; those that follow do not belong to it */
    uint64_t number; /* counts up; the same one when it is sent again */
};

/* The clocks that the stored times follow. */
#define STORE_BOOT_MAX 64
struct store_mark {
    bool is_set;
    int64_t wall_ms;
    int64_t even_ms;
    char boot[STORE_BOOT_MAX];
};

/* A lease must outlive several of these. */
#define STORE_BEAT_MS 2000

#define STORE_SECRET_MAX 64
struct store_secret {
    uint8_t bytes[STORE_SECRET_MAX];
    size_t count; /* 0: none; a secret that is too long has its length but no bytes */
    int64_t made_wall_ms;
};

/* An open database. A driver's own struct begins with this one. */
struct store_backend {
    const struct store_driver *driver;
    char why[768];   /* why the latest call failed, as a sentence that says what to do */
    uint64_t losses; /* times that the store came back without rows that it had; see store_kept.h */
    char loss[384];  /* the latest, as a sentence */
    uint64_t bytes;  /* bytes written since it was opened, as far as the driver can tell */
    uint64_t reconnects; /* connections that were lost and made again */
    char
        server[256]; /* as in struct store_about; set by open() at the latest, as are those below */
    char durability[256];
    bool is_async;
    uint64_t migrated_from; /* the version of a file that was brought up to date, or 0 */
    uint64_t lost_solutions, lost_idempotency; /* rows lost by migrating an older version */
    uint32_t
        batch_most; /* entries that it can write at once without keeping others waiting; 0: as many as come */
    /* Who writes; 0: a gateway that has the store for itself. */
    uint16_t node;
    uint64_t incarnation;        /* of the node's runs, never used twice */
    char parts[STORE_PARTS_MAX]; /* of a pulse: what its beats say of the configuration */
    /* A shared store lost claims: until then nobody gets one that is not asked for as before. By uv_hrtime(). */
    uint64_t grace_until_ns;
    bool is_in_grace; /* was it so when the latest batch was begun? */
    bool is_held_up;  /* some living node has not written again yet what the store lost */
};

/* The nodes of a store, as a beat found them. */
struct store_member {
    uint16_t node;
    uint64_t incarnation, beat;
    struct demand demand;
    bool has_left; /* it ended in order */
    bool is_gone;  /* this run was adopted: nothing but its books is left of it */
    char name[STORE_NAME_MAX];
    char parts[STORE_PARTS_MAX]; /* "": this run has not said yet */
};

#define STORE_MEMBERS_MAX 512
struct store_members {
    uint32_t count;
    struct store_member all[STORE_MEMBERS_MAX];
};

struct store_sought;

typedef void store_on_values(void *context, enum record_kind kind, const struct row_value *values);

typedef void store_on_letter(void *context, uint16_t node, const struct row_value *values);

/* What an adoption brings. Rows may come in any order, each once. */
struct store_adopted {
    void *context;
    void (*on_values)(void *context, enum record_kind kind, const struct row_value *values);
    void (*on_claim)(void *context, const struct key *name, uint64_t flight);
};

/* What gateways that share a store need besides. Those named pulse_… have a connection of their own, the pulse's,
 * and run on its thread only; adopt() has a third one.
 *
 * The inbox: a batch puts facts (entry->told) into it, each under its number, unless that is there already; who
 * tells is the node that writes the batch. A fact belongs to the owner of its subject's row (fact_subject() is the
 * row's name) as that row is when the inbox is read. If there is no such row, it belongs to the node errand.to, if that
 * is neither gone nor has left when the fact is told, else to its teller. A FACT_BAD becomes an entry for every other
 * node that is neither gone nor has left, under FACT_NUMBER_STEP; in the same transaction all rows of solutions with
 * this key and attempt expire, whoever has them, and so do those that are remembered with the ends of claims. After the
 * commit the owners are woken. A batch also drops facts (entry->forgotten), whoever's they are. store_fact.h writes and
 * reads a fact's body. */
struct store_sharing {
    /* Gives the claims that the node has. */
    enum store_result (*load_claims)(struct store_backend *backend,
                                     void (*on_claim)(void *context, const struct key *name,
                                                      uint64_t flight),
                                     void *context);
    /* The server's wall clock, which all who share the store go by. The backend is connected. NULL: each goes by
     * its own. */
    enum store_result (*read_time)(struct store_backend *backend, int64_t *wall_ms);
    /* Says that the node ends in order. */
    enum store_result (*leave)(struct store_backend *backend);

    /* A second backend of the same node, not connected yet; driver->close() frees it. */
    struct store_backend *(*make_pulse)(const struct store_backend *backend);
    /* Counts the node's beat up, leaves the pulse's parts, and reads what all say. STORE_REFUSED: the node was adopted;
     * a driver that cannot adopt says STORE_FAILED when another gateway has its place. */
    enum store_result (*pulse_beat)(struct store_backend *pulse, const struct demand *demand,
                                    struct store_members *members);
    /* Waits for ends of claims until some came, the file descriptor can be read or the time is over. A name of NULL
     * says that the inbox may have a fact for this node. */
    enum store_result (*pulse_wait)(struct store_backend *pulse, int fd, int timeout_ms,
                                    void (*on_woken)(void *context, const struct key *name),
                                    void *context);

    /* The next two are both there or both NULL: then a dead node's rows wait for its return.
     *
     * Gives at most limit facts of the inbox that are for this node; those of an attempt in the order of being told.
     * They stay there until a batch drops them. The callback takes the references of text and extra. */
    enum store_result (*pulse_inbox)(struct store_backend *pulse, unsigned limit,
                                     void (*on_fact)(void *context, const struct fact *take_fact),
                                     void *context);
    /* Makes the dead node's rows ours and gives them, and the claims, if its incarnation and beat are still those
     * that were seen, and this node is nobody's itself (else STORE_REFUSED). All at once, or such that nobody can
     * tell the difference, also if we die in the middle:
     * - its batches are refused from now on, also one that is on its way (STORE_REFUSED);
     * - its rows get our number as their owner, except for its books (RECORD_DAY, RECORD_TALLY, RECORD_SPENT), and
     *   so do its claims and the facts that it told; those of the books stay, under its number, for its next run;
     * - every flight counts one adoption more (at most 255), in the row that is given, too, unless the node had
     *   left;
     * - from now on it is_gone in the members, and its name may join again, under the same number.
     *
     * *is_ours is false, and nothing was changed, if it was not as seen. Expired rows need not be given. The backend
     * is one of make_pulse(), not the pulse's own. After STORE_RETRY it is called with is_again: then it only finds
     * out whether the call before has taken the rows, and goes on with those that were not given yet; it never takes
     * rows that the call before did not take, since meanwhile the store was away for the other node, too.
     *
     * A driver that adopts also remembers, in the row of an idempotency key whose claim ended as CLAIM_FOLLOW, the
     * claim that is followed: whoever repeats the key later gets that one's solution, also if the follower died. */
    enum store_result (*adopt)(struct store_backend *backend, const struct store_member *dead,
                               bool is_again, bool *is_ours, const struct store_adopted *to);

    /* Looks for requests, as store_find.h says, with a backend of make_pulse() that is the reader's. */
    enum store_result (*find)(struct store_backend *reader, struct store_sought *sought,
                              uint32_t count);
    /* Gives the numbers of the letters of all nodes, in any order; with a backend of the reader's. */
    enum store_result (*letter_numbers)(struct store_backend *reader,
                                        void (*on_number)(void *context, uint64_t number),
                                        void *context);
    /* Gives the rows of these letters and who has them, in any order, without those that are gone meanwhile; with
     * their bytes (parameters, solutions) only if it is full. */
    enum store_result (*letters)(struct store_backend *reader, const uint64_t *numbers,
                                 uint32_t count, bool is_full, store_on_letter *on_letter,
                                 void *context);
    /* Gives the pages, tallies and spent budgets of a node's books that have not expired, whether it lives or not. By
     * the reader's backend, too. */
    enum store_result (*books)(struct store_backend *reader, uint16_t node, int64_t wall_ms,
                               store_on_values *on_values, void *context);
    /* Adds up how many units of these clients' day all nodes together have, used or not. By the reader's backend,
     * too. */
    enum store_result (*sum_drawn)(struct store_backend *reader, int64_t day,
                                   struct store_budget *budgets, uint32_t count);
};

/* Every function may block. All of them run on one thread at a time, first on the one that opens the store and
 * later on the writer's, except for check() and stop_check(). */
struct store_driver {
    const char *name;
    const char *const *schemes; /* of URLs for this driver, in lower case; ends with NULL */

    /* Whether URL and prefix make sense, without asking anybody; false with a sentence in mistake. NULL: they do. */
    bool (*judge)(const struct store_place *place, const char *address, struct buf *mistake);
    /* Claims the store at this address (the URL behind the colon of its scheme) against a second gateway, and
     * touches nothing else. Anything but STORE_OPENED leaves *backend NULL and a sentence in mistake. */
    enum store_opening (*lock)(const struct store_place *place, const char *address,
                               struct store_backend **backend, struct buf *mistake);
    /* Creates or migrates the tables. After a failure only close() may follow. */
    enum store_opening (*open)(struct store_backend *backend, struct buf *mistake);

    /* Reads a secret; its count is 0 if there is none of this name. */
    enum store_result (*find_secret)(struct store_backend *backend, const char *name,
                                     struct store_secret *secret);
    /* Stores a secret, and the one before, if it is given, under old_name, in one transaction. Does nothing if
     * the stored one is not (or no longer) the one before: the first writer wins. */
    enum store_result (*replace_secret)(struct store_backend *backend, const char *name,
                                        const struct store_secret *secret, const char *old_name,
                                        const struct store_secret *before);

    enum store_result (*read_mark)(struct store_backend *backend, struct store_mark *mark);
    /* Moves the stored times and sets the mark to the shift's clocks, in one transaction. Does nothing if the mark
     * is already there, since a shift may be sent twice as well. */
    enum store_result (*shift)(struct store_backend *backend, const struct store_shift *shift);

    /* Gives every row that has not expired, in the order of enum record_kind and within a kind of the key. */
    enum store_result (*load)(struct store_backend *backend, int64_t wall_ms,
                              store_on_values *on_values, void *context);

    /* Writes the batch in order and in one transaction: all of it is durable when this returns STORE_DONE. A batch
     * that is sent again, since its outcome was unknown, changes nothing; its claims are looked up again, and its
     * draws are decided again (budgets.h; the driver forgets them some days after their day). The
     * batch of a node that another one has taken over is refused as a whole (STORE_REFUSED, or STORE_FAILED from a
     * driver that cannot adopt). */
    enum store_result (*write)(struct store_backend *backend, const struct store_batch *batch);
    /* Proves that the store is there and still ours, and renews the lock if it is a lease. Called every
     * STORE_BEAT_MS while nothing else is written, and a batch counts as one. May be NULL. */
    enum store_result (*beat)(struct store_backend *backend);
    /* Looks at the server's settings again, since what an acknowledgement is worth may have changed; updates server,
     * durability and is_async. Called every minute or so. May be NULL. */
    enum store_result (*look)(struct store_backend *backend);
    /* Does work that may wait until a batch was reported durable, such as moving a log; is_last
     * before closing. May be NULL. */
    enum store_result (*settle)(struct store_backend *backend, bool is_last);
    /* Deletes at most limit expired rows of each kind; *has_more if a kind reached the limit. */
    enum store_result (*tidy)(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                              bool *has_more);

    /* Checks for damage, on a thread of its own beside the writer: false with a sentence in
     * mistake. May be NULL. */
    bool (*check)(struct store_backend *backend, struct buf *mistake);
    /* Makes a running check return true soon. Called from the loop. */
    void (*stop_check)(struct store_backend *backend);

    /* Gives up the lock and the connection, for not longer than a moment: only close() may follow, which then does not
     * block. NULL: close() never does. */
    void (*hang_up)(struct store_backend *backend);
    void (*close)(struct store_backend *backend);

    /* NULL: only one gateway can use it. */
    const struct store_sharing *sharing;

    /* Adds the statements that create what open() would create, for operators who grant rights by hand. NULL:
     * nothing has to be prepared. */
    void (*print_schema)(const struct store_place *place, struct buf *out);
    /* Adds lines about the store and whether it fits this program, without a lock and without changing anything.
     * Anything but STORE_OPENED adds a sentence to mistake. */
    enum store_opening (*inspect)(const struct store_place *place, const char *address,
                                  struct buf *report, struct buf *mistake);
};

/* The driver for a URL, and *address behind its scheme; NULL if no driver knows the scheme. */
const struct store_driver *store_driver_find(const char *url, const char **address);

/* The option of the build that adds a driver for the URL's scheme; NULL if there is none. */
const char *store_driver_option(const char *url);

/* Calls hang_up(), if the driver has it. A thread that used the backend does this, so that the loop can close it. */
void store_hang_up(struct store_backend *backend);

/* Others who share the store have lost their claims, too, and get them again within a lease at most. */
void store_begin_grace(struct store_backend *backend, uint32_t lease_ms);
/* A batch begins: does it come in that time? */
void store_look_at_grace(struct store_backend *backend);
/* Then the claim is not sent, and ends as CLAIM_UNAVAILABLE. */
bool store_claim_waits(const struct store_backend *backend, const struct store_asked *asked);

/* As store_lock, with a driver that is not in the list. */
enum store_opening store_lock_with(const struct store_driver *driver,
                                   const struct store_place *place, struct store **store,
                                   struct buf *mistake);

#endif
