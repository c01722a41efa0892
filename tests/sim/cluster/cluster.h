/* The simulation of several gateways: two to five real engines on one modelled store, where one seed is one run. */
#ifndef SOLVEGATE_TESTS_SIM_CLUSTER_H
#define SOLVEGATE_TESTS_SIM_CLUSTER_H

#include "base/assert.h"
#include "plan.h"
#include "sums.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

#define NONE UINT32_MAX

/* ---- the vendor's ledger --------------------------------------------------------------------- */

/* A submit, whoever made it. */
struct submit {
    attempt_id name;
    uint32_t key, node, incarnation;
    node_id run;
    enum reuse reuse;
    uint64_t issued_ms; /* when the engine decided it */
    uint64_t ready_ms;  /* when the vendor is done; UINT64_MAX: never */
    uint32_t token;     /* its solution, or NONE */
    bool is_executed, is_accepted;
    bool is_first; /* of its flight, and not one whose reply was lost before */
    bool is_unsolvable;
    bool is_id_told;     /* its engine was told the task id */
    bool is_durable;     /* a row has the task id */
    uint64_t durable_ms; /* since when */
    bool is_ended;       /* its engine was told the end, or that it does not exist */
    bool is_reported;    /* the vendor was told that its solution is bad */
    int64_t day;         /* when it was issued */
};

/* A solution the vendor made. */
struct token {
    uint32_t key, submit;
    enum reuse reuse;
    uint64_t expires_ms; /* at the earliest */
    uint64_t idempotency;
    uint32_t need;   /* the first that got it, or NONE */
    uint32_t handed; /* needs that got it */
    bool is_exclusive, is_told;
    bool is_unsafe;    /* given out while the store was away: a crash may give it out again */
    bool is_doubted;   /* somebody reports it as bad */
    bool is_condemned; /* and the store has heard of it */
    uint64_t bad_ms;   /* when somebody was told that its report of it was recorded, or 0 */
};

/* ---- clients ----------------------------------------------------------------------------------- */

enum need_state { NEED_AWAY, NEED_ASKING, NEED_KNOWN, NEED_LOOKING, NEED_DONE };

/* Somebody who wants something: asks, waits, leaves, comes back. */
struct need {
    enum need_state state;
    uint32_t key,
        other_key; /* what it wants; what it wants under the same idempotency key by mistake */
    uint64_t idempotency; /* number, or 0 */
    enum reuse reuse;
    uint32_t node, incarnation; /* where it asked */
    uint64_t asked_ms;
    request_id id;
    uint32_t tries;
    uint32_t token;
    bool is_told, is_mutated, is_picky;
    bool
        is_unsafe; /* its id was told while the store was away, or may be forgotten in a standstill */
    uint32_t give_ups; /* how often it tried to: nobody knows when that is carried out */
    bool
        is_slept_through; /* the node that has its request stood still: what ended there may be expired */
    bool is_end_told;  /* the engine answered with its end; the answer may be lost in a crash */
    uint32_t end_node; /* the one that did */
    uint64_t end_ms;   /* when */
};

struct caller {
    uint32_t need, node;
    uint32_t hold_ms;
    uint64_t since_ms;
    bool is_open, is_report, is_detach;
    bool is_sight;    /* it has its solution, and comes back for it */
    request_id id;    /* of a sight */
    bool is_operator; /* it has no need, but orders something about letters */
    uint64_t letter;  /* of another node's that it orders about; 0: about many, or of its own */
};

/* ---- the store ----------------------------------------------------------------------------------- */

struct row {
    struct record record; /* owned */
    node_id owner;
    uint64_t since_ms;
    bool is_taken;       /* of a single-use solution: by the flight that it names */
    bool is_provisional; /* of an idempotency key: made by a claim */
    uint64_t follows;    /* of an idempotency key: the claim that its flight waits for, or 0 */
};

struct held_claim {
    struct key name;
    uint64_t number;
    node_id node;
    uint64_t won_ms;
};

/* A fact for whoever has the attempt's or the request's row, else for the one it was left to. */
struct letterbox {
    struct fact fact; /* owned */
    node_id teller;
};

/* One run of one node. */
struct run {
    struct member member;
    uint32_t place;
    bool is_gone;      /* adopted: whatever it decides is refused */
    bool is_forgotten; /* by the store, until it enters again */
    uint64_t gone_ms;
};

#define RUNS_MAX 4096

/* How a claim ended. */
struct claim_end {
    struct release release;
    struct record solution; /* owned copy; without a text: not solved */
    uint64_t until_ms, refuse_until_ms;
};

/* The units of a client's day that a node has. */
struct share {
    client_id client;
    int64_t day;
    uint32_t place; /* the node */
    node_id run;
    uint64_t earlier, held; /* by earlier runs, and by this one */
};
#define SHARES_MAX 64

struct store {
    struct row *rows; /* owned */
    size_t row_count, row_room;
    struct held_claim *claims; /* owned */
    size_t claim_count, claim_room;
    struct claim_end *ends; /* owned */
    size_t end_count, end_room;
    struct letterbox *inbox; /* owned; the oldest first */
    size_t inbox_count, inbox_room;
    struct run runs[RUNS_MAX]; /* by number, from 1 */
    node_id last_run;
    uint64_t applied[NODES_MAX]; /* number of the last batch of each node */
    uint64_t away_until_ms;
    uint64_t beat_ms[NODES_MAX]; /* when each node's last beat arrived */
    struct share shares[SHARES_MAX];
    size_t share_count;
};

/* ---- nodes -------------------------------------------------------------------------------------- */

/* What a node sends to the store, in the engine's order. */
struct entry {
    enum action_kind kind; /* JOURNAL, CLAIM, RELEASE, TELL, FORGET or DRAW */
    journal_seq seq;
    struct record record; /* owned */
    struct claim claim;
    struct release release;
    struct fact fact; /* owned */
    uint64_t forget;
    struct draw draw;
    uint64_t at_ms;
    uint64_t asked; /* by then at this node */
    bool is_applied;
};

/* Rows and claims on their way to the node that adopted them. */
struct parcel {
    struct record *records;       /* owned, and what is in them */
    struct adopted_claim *claims; /* owned */
    size_t record_count, claim_count, records_sent, claims_sent;
    node_id id;
    bool is_ours;
};

/* The result of a claim, with the row that it points to, or of a draw. */
struct verdict {
    bool is_draw;
    struct drawn drawn;
    struct claimed claimed;
    struct solution_row row; /* owned texts, or NULL */
};

/* A node looks for another one's request. */
struct seeking {
    uint32_t node;
    bool is_back; /* it was told what was found */
    struct find find;
    struct found found;
    struct solution_row row; /* owned texts, or NULL */
};

struct node {
    struct engine *engine; /* NULL while it is down */
    uint32_t incarnation;  /* counts its processes */
    node_id run;
    struct parcel parcel;
    uint64_t offset_ms;  /* of its clock */
    int64_t rate_ppm;    /* by which its clock is too fast */
    int64_t followed_ms; /* its wall time, less its clock */
    struct entry *queue; /* owned; the first `sent` are in the batch under way */
    size_t queue_count, queue_room, sent;
    uint64_t batch;           /* number of that batch, counts on over incarnations */
    struct verdict *verdicts; /* owned: of the batch that was applied */
    size_t verdict_count, verdict_room;
    journal_seq durable;
    struct action *waiting; /* owned: actions that wait for records */
    size_t waiting_count, waiting_room;
    uint64_t asked, accepted;             /* in this incarnation */
    uint64_t adopted_requests;            /* rows of them */
    uint64_t asked_written;               /* of these, with the books in the store */
    struct stats closed;                  /* its books when it wrote the last page */
    bool is_cut_off;                      /* it noticed that the store is away */
    uint64_t cut_until_ms;                /* it does not reach the store */
    uint64_t paused_until_ms;             /* the process does not run */
    struct demand demand;                 /* in the beat that was sent last */
    uint64_t pool_refills;                /* that it has begun until its latest step */
    uint32_t pool_level;                  /* all of the pool, after its latest step */
    uint32_t windfall;                    /* of the pool: not begun by itself */
    uint64_t windfall_until_ms;           /* until then the others may not know */
    struct member members[NODES_MAX * 4]; /* as its last beat found them */
    uint16_t member_count;
    bool is_draining;        /* it was told to end */
    bool has_stopped;        /* it submits nothing any more, and gave its unused units back */
    bool is_unbroken;        /* no beat was lost since the last one that came back */
    bool has_lost;           /* it entered the store again, and its engine was not told yet */
    uint64_t grace_until_ms; /* nothing new is claimed until then */
    uint32_t slots_used;     /* after its last step */
    uint64_t adopted_ms;     /* when rows of another one came last */
    bool has_untold;         /* no beat has said since what it holds with them */
    uint64_t adopting_ms;    /* when it adopted what it had to tell then */
    uint64_t told_ms;        /* when it had told all of it */
    uint64_t heard_ms;       /* when the members were listed that it knows */
    uint64_t started_ms;     /* this run */
    bool is_hurrying;        /* a beat beside the usual ones comes soon */
};

/* ---- the world ----------------------------------------------------------------------------------- */

enum happening {
    HAPPEN_ARRIVE,
    HAPPEN_NEED,
    HAPPEN_LEAVE,
    HAPPEN_SUBMITTED,
    HAPPEN_POLLED,
    HAPPEN_CALLBACK,
    HAPPEN_AT_STORE, /* a batch arrives */
    HAPPEN_BACK,     /* its reply arrives */
    HAPPEN_SEND,     /* a batch is sent, again if need be */
    HAPPEN_WOKEN,
    HAPPEN_UP,
    HAPPEN_BEAT, /* a beat is sent, arrives at the store, and is confirmed */
    HAPPEN_BEAT_AT_STORE,
    HAPPEN_BEAT_BACK,
    HAPPEN_RESUME, /* a process that stood still runs again */
    HAPPEN_ADOPT,  /* an adoption is decided by the store, and a part of its rows arrives */
    HAPPEN_ADOPTED,
    HAPPEN_LEFT,   /* it has drained, and gives its rows up */
    HAPPEN_FENCED, /* the node learns that it was adopted */
    HAPPEN_INBOX,  /* it reads its inbox */
    HAPPEN_FIND,   /* the store looks for a request, and its answer arrives */
    HAPPEN_FOUND,
    HAPPEN_REPORT, /* somebody reports its solution as bad, anywhere */
    HAPPEN_ORDER,  /* somebody orders something about letters, anywhere */
    HAPPEN_SIGHT,  /* somebody comes back for its solution, anywhere */
    HAPPEN_LOST,   /* the node learns that it entered the store again */
    HAPPEN_ROLL,   /* all nodes are restarted in turn: this is the next */
};

struct moment {
    uint64_t at_ms, order;
    enum happening what;
    uint32_t node, incarnation; /* it is for; incarnation 0: any */
    uint32_t subject, detail;
    uint64_t number;
    struct key name;
};

struct cluster {
    struct plan plan;
    struct rand rand, pulse_rand, find_rand, drain_rand, letter_rand, forget_rand, sight_rand,
        clock_rand, roll_rand;
    bool
        has_unclosed; /* somebody left before its last page, or before it heard of all that it had adopted */
    uint64_t asked, asked_unwritten, accepted; /* of all nodes; in no books; as engines were told */
    uint64_t letter_strength; /* of a thousand failures that somebody orders something about */
    uint64_t now_ms, order, steps;
    bool is_traced, is_healing;
    struct moment *heap; /* owned */
    size_t heap_count, heap_room;
    struct node nodes[NODES_MAX];
    uint64_t settled_ms; /* until then not all nodes know who has the tasks of one that ended */
    struct store store;
    struct submit *submits; /* owned, as all below */
    size_t submit_count, submit_room;
    struct token *tokens;
    size_t token_count, token_room;
    struct need *needs;
    size_t need_count, need_room;
    struct caller *callers;
    size_t caller_count, caller_room;
    struct seeking *finds;
    size_t find_count, find_room;
    struct blob **params;
    uint64_t sight_strength; /* of a thousand solutions that somebody comes back for */
    struct {
#define SUM_AS_FIELD(field, text, faults) uint64_t field;
        SUM_LIST(SUM_AS_FIELD)
#undef SUM_AS_FIELD
    };
};

void cluster_run(struct cluster *c, const struct plan *plan);
void cluster_close(struct cluster *c);

_Noreturn void cluster_fail(const struct cluster *c, const char *rule, const char *file, int line);
#define CHECK(c, rule) ((rule) ? (void)0 : cluster_fail(c, #rule, __FILE__, __LINE__))

void *room_for(void *items, size_t count, size_t *room, size_t item_bytes);
bool chance(struct cluster *c, enum fault fault);
uint64_t below(struct cluster *c, uint64_t bound);
void at(struct cluster *c, uint64_t in_ms, struct moment moment);
int64_t wall_ms(const struct cluster *c);
struct key key_numbered(uint32_t key);
uint32_t number_of_key(const struct key *key);
struct key digest_numbered(uint64_t idempotency);
void tell(const struct cluster *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- nodes: what the gate does ---------------------------------------------------------------- */

/* Applies the event with the node's time and does what the engine asks for. */
void node_step(struct cluster *c, uint32_t node, struct event *event);
void node_start(struct cluster *c, uint32_t node);
/* Tasks change hands: for two leases nobody knows who uses how many slots. */
void node_unsettle(struct cluster *c);
void node_crash(struct cluster *c, uint32_t node);
/* Its process is over, whatever the store knows of that. */
void node_end(struct cluster *c, uint32_t node);
void node_close(struct node *node);
/* It was adopted: it hands in what it knows, and goes on as a new run in the same process. */
void node_fence(struct cluster *c, uint32_t node);
uint64_t node_deadline_ms(const struct cluster *c, uint32_t node);
void node_happens(struct cluster *c, const struct moment *moment);

/* ---- clocks ---------------------------------------------------------------------------------------- */

/* How fast its clock runs. */
void clocks_draw(struct cluster *c, uint32_t node);
/* Sets the node's clocks as they are when its process begins. */
void clocks_begin(struct cluster *c, uint32_t node);
/* The node's clock at a moment of the world. */
uint64_t node_clock_ms(const struct cluster *c, uint32_t node, uint64_t world_ms);
/* When the node's clock shows this. */
uint64_t node_world_ms(const struct cluster *c, uint32_t node, uint64_t clock_ms);
int64_t node_wall_ms(const struct cluster *c, uint32_t node);
/* A beat was sent, and the store told its time at a later moment. */
void clocks_follow(struct cluster *c, uint32_t node, uint64_t sent_ms, uint64_t told_ms);
/* How far the wall time of a node may be off. */
uint64_t clocks_off_ms(const struct cluster *c);
/* What a node waits for so long may take as long in the world. */
uint64_t clocks_least_ms(const struct cluster *c, uint64_t clock_ms);

/* ---- beats ---------------------------------------------------------------------------------------- */

void pulse_start(struct cluster *c, uint32_t node);
/* Its engine wants a beat sooner than usual? */
void pulse_hurry(struct cluster *c, uint32_t node);
void pulse_happens(struct cluster *c, const struct moment *moment);
/* Perhaps a node is cut off from the store, or stops running for a while. */
void pulse_disturb(struct cluster *c);
bool pulse_chance(struct cluster *c, enum fault fault);
bool node_is_cut(const struct cluster *c, uint32_t node);
bool node_is_paused(const struct cluster *c, uint32_t node);

/* ---- the store ---------------------------------------------------------------------------------- */

/* Applies the batch that the node has under way, unless it was applied before, and decides its claims; false if
 * the node was adopted. */
bool store_apply(struct cluster *c, uint32_t node);
/* Gives a node that starts its rows and claims. */
void store_load(struct cluster *c, uint32_t node);
void store_close(struct store *store);
/* NULL: nobody has it. */
struct held_claim *store_find_claim(struct store *store, const struct key *name);
/* Pages of the books belong to one node each. */
struct key store_name_of(const struct record *record, node_id node);
/* A record with references of its own. */
struct record store_copy_of(const struct record *record);
struct row *store_find(struct store *store, enum record_kind kind, const struct key *name);
struct row *store_find_solution(struct store *store, uint64_t id);
void store_give(struct verdict *verdict, enum claim_result result, const struct solution_row *row);
/* Is the solution good enough for the claim? */
bool store_suits(const struct cluster *c, const struct claim *claim,
                 const struct solution_row *row);
/* The claim gets what it proposes, or got before; or the first that anybody offers. */
bool takes_decide_own(struct cluster *c, node_id node, const struct claim *claim,
                      struct verdict *verdict);
bool takes_decide(struct cluster *c, node_id node, const struct claim *claim,
                  struct verdict *verdict);
bool takes_has_lost(struct store *store, node_id node, const struct claim *claim,
                    const struct verdict *verdict);
/* Makes everything of one run another's. */
void store_adopt(struct cluster *c, node_id from, node_id to);
/* Copies what a run has, for its adopter. */
void store_pack(struct cluster *c, node_id from, struct parcel *parcel);
void parcel_close(struct parcel *parcel);

/* ---- budgets -------------------------------------------------------------------------------------- */

/* Decides a draw, also one that is sent again. */
void budget_apply(struct cluster *c, uint32_t node, const struct draw *draw, struct drawn *drawn);
/* Accepted submits of a client never exceed its budget, in the whole cluster. */
void check_budget(struct cluster *c, const struct submit *submit);
void check_units_are_back(struct cluster *c);
/* The day, counted since 1970. */
int64_t today(const struct cluster *c);

/* ---- books ---------------------------------------------------------------------------------------- */

/* The pages of a node are its own again when it starts again. */
void books_keep(struct cluster *c, uint32_t node);
/* False: what has happened since is written first. */
bool books_are_closed(struct cluster *c, uint32_t node);
void books_note_written(struct cluster *c, uint32_t node, uint64_t asked);
/* The node's parcel is its own from now on. */
void books_note_adopted(struct cluster *c, uint32_t node);
/* What is not in the store by now is in nobody's books. */
void books_note_end(struct cluster *c, uint32_t node);
void check_books(struct cluster *c);

/* ---- the inbox ------------------------------------------------------------------------------------ */

void inbox_put(struct cluster *c, node_id teller, const struct fact *fact);
void inbox_forget(struct store *store, uint64_t number);
/* Gives a node the facts that are meant for it. */
void inbox_read(struct cluster *c, uint32_t node);
/* Has somebody not heard yet that what this attempt brought is bad? */
bool inbox_has_bad(const struct store *store, attempt_id attempt);
/* What this attempt brought for the key expires at once, wherever it is. */
void store_condemn(struct cluster *c, const struct bad_solution *bad);
bool run_is_alive(const struct cluster *c, node_id run);

/* ---- finds ----------------------------------------------------------------------------------------- */

void find_send(struct cluster *c, uint32_t node, const struct find *find);
void finds_happen(struct cluster *c, const struct moment *moment);
void finds_close(struct cluster *c);
bool find_chance(struct cluster *c, enum fault fault);

/* ---- nodes that leave ------------------------------------------------------------------------------- */

bool drain_chance(struct cluster *c, enum fault fault);
void drain_disturb(struct cluster *c);
void drain_happens(struct cluster *c, const struct moment *moment);
void rolls_begin(struct cluster *c);
void rolls_happen(struct cluster *c, const struct moment *moment);

/* ---- a store that forgets --------------------------------------------------------------------------- */

/* In some worlds, in which nothing else goes wrong with nodes and store. */
bool forget_is_planned(struct plan *plan);
void forget_disturb(struct cluster *c);
/* Lets a node that the store has forgotten be known again. */
void forget_enter(struct cluster *c, uint32_t node);
/* Must the claim wait, since somebody else may have it? */
bool forget_makes_wait(const struct cluster *c, uint32_t node, const struct claim *claim);
/* Tells the engine that rows are lost, if they are. */
void forget_tell(struct cluster *c, uint32_t node);

/* ---- errands --------------------------------------------------------------------------------------- */

void errands_happen(struct cluster *c, const struct moment *moment);
/* Perhaps whoever got this reports it. */
void errands_on_solved(struct cluster *c, uint32_t need);
/* Gives the request up instead of looking for it; false: it looks. */
bool errands_give_up(struct cluster *c, uint32_t need);
/* What they are told. */
void errands_on_answer(struct cluster *c, struct caller *caller, const struct answer *answer);

/* ---- sights ---------------------------------------------------------------------------------------- */

void sights_begin(struct cluster *c);
void sights_happen(struct cluster *c, const struct moment *moment);
/* Perhaps whoever got this comes back. */
void sights_on_solved(struct cluster *c, uint32_t need);
void sights_on_answer(struct cluster *c, struct caller *caller, const struct answer *answer);

/* ---- letters --------------------------------------------------------------------------------------- */

void orders_begin(struct cluster *c);
void orders_happen(struct cluster *c);
/* Perhaps somebody sees to it. */
void orders_on_failed(struct cluster *c);
void orders_on_answer(struct cluster *c, const struct letters_answer *answer);
/* NULL: nobody has it. */
const struct row *orders_find(const struct store *store, uint64_t number);

/* ---- vendor and clients ------------------------------------------------------------------------- */

/* The engine decides a submit; later it may be sent, or not. */
void vendor_issue(struct cluster *c, uint32_t node, const struct call *call);
void vendor_submit(struct cluster *c, uint32_t node, const struct action *action);
/* A row about a submit leaves the engine: whoever rides on a task may have it for itself from then on. */
void vendor_note_row(struct cluster *c, const struct record *record);
void vendor_poll(struct cluster *c, uint32_t node, const struct call *call);
void vendor_probe(struct cluster *c, uint32_t node, enum probe probe);
/* It hears of each bad solution once. */
void vendor_hear_report(struct cluster *c, const struct call *call);
void vendor_happens(struct cluster *c, const struct moment *moment);
uint32_t token_of(const struct cluster *c, const struct blob *text);
uint32_t submit_named(const struct cluster *c, attempt_id name);

void clients_happen(struct cluster *c, const struct moment *moment);
/* Unsafe: while the store was away, before its records were safe. */
void clients_on_answer(struct cluster *c, const struct answer *answer, bool is_unsafe);
void clients_note_answer(struct cluster *c, const struct answer *answer);
void clients_on_crash(struct cluster *c, uint32_t node);
void clients_on_pause(struct cluster *c, uint32_t node);
/* The gate answers for an engine that was fenced. */
void clients_refuse(struct cluster *c, caller_id caller);
caller_id clients_call(struct cluster *c, uint32_t need, uint32_t node);

/* ---- rules of the store ----------------------------------------------------------------------- */

/* What the modelled store promises, said a second time: a mutant of its guards breaks one of these. */
void check_owner(struct cluster *c, const struct row *row, node_id node);
void check_granted(struct cluster *c, const struct key *name);
void check_first(struct cluster *c, const struct entry *entry);
/* From or to run 0, which carries rows from one to the next, nothing is promised. */
void check_adoption(struct cluster *c, node_id from, node_id to);

/* ---- rules ---------------------------------------------------------------------------------------- */

/* At most one live submit per shared key in the whole cluster. */
void check_submit(struct cluster *c, const struct submit *submit);
/* Nobody pays for a shared key whose fresh solution was in the store when it was claimed. */
void check_needed(struct cluster *c, const struct submit *submit);
/* No node submits after others may have taken it for dead. */
void check_lease(struct cluster *c, const struct submit *submit);
/* A single-use solution is handed out once. */
void check_handed(struct cluster *c, uint32_t need, const struct answer *answer, bool is_unsafe);
/* Nothing paid for is thrown away. */
void check_dropped(struct cluster *c, const struct solution_row *row);
/* The event is that of the step, or NULL after a start. */
void check_after_step(struct cluster *c, uint32_t node, const struct event *event);
void check_at_the_end(struct cluster *c);

#endif
