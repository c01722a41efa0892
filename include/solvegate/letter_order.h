/* Orders about dead letters: listed, replayed, dropped. */
#ifndef SOLVEGATE_LETTER_ORDER_H
#define SOLVEGATE_LETTER_ORDER_H

#include <solvegate/types.h>

/* Selects dead letters; every field that is set narrows the selection. */
struct letter_filter {
    uint64_t number; /* 0: any */
    bool has_client;
    client_id client;
    enum error_class class;    /* CLASS_COUNT: any */
    enum type type;            /* TYPE_COUNT: any */
    char code[ERROR_CODE_MAX]; /* "": any */
    int64_t until_wall_ms;     /* made no later than this; 0: whenever */
};

enum letter_verb {
    LETTER_REPLAY, /* queue them for another solve, counters reset */
    LETTER_CANCEL, /* take queued letters off the replay queue */
    LETTER_DROP,
    LETTER_LIST, /* count the letters and return a page of them */
};

/* Carried out over as many steps as it takes, and answered at its end. */
struct letter_order {
    caller_id caller;
    enum letter_verb verb;
    struct letter_filter filter;
    uint64_t cursor; /* of a list: only letters older than this number; 0: from the newest */
    uint32_t limit;  /* of a list: letters per page */
    /* Moves the replayed letter to another client, under that client's key. */
    bool has_into;
    client_id into;
    struct key into_key;
    /* With a store that others share; none of a list. */
    client_id client; /* who gives the order */
    uint16_t node;    /* the node that has the letter it names; 0: this one */
    bool is_for_all;  /* every node carries it out */
};

struct letters_answer {
    caller_id caller;
    enum letter_verb verb;
    /* FULL_REQUESTS: too many orders are under way. Of one that other nodes carry out, also UNKNOWN_ID: nobody has the
     * letter; STORE_AWAY: they did not reply, and what they have done is not known. */
    enum refusal refusal;
    uint32_t count; /* letters it changed; of a list, letters that match */
    uint32_t found_count;
    uint64_t *found; /* owned: of a list, the numbers on its page, the newest first */
    uint64_t next;   /* of a list: the cursor of the next page, or 0 */
};

#endif
