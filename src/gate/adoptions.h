/* Who adopted whom, and when: each gateway says with its beats what it adopted, and remembers what all have said. */
#ifndef SOLVEGATE_GATE_ADOPTIONS_H
#define SOLVEGATE_GATE_ADOPTIONS_H

#include "store/store_driver.h"

/* So many are remembered, and the latest of this gateway's own are told. */
#define ADOPTIONS_SEEN 16
#define ADOPTIONS_TOLD 4

struct adoption_seen {
    node_id id;    /* of the run that was adopted */
    uint16_t node; /* its gateway's number */
    uint64_t rows;
    int64_t wall_ms; /* when the adopter had all of them */
    bool was_dead;   /* else it ended in order; known to the adopter only */
    char name[STORE_NAME_MAX];
    char by[STORE_NAME_MAX];
};

struct adoptions {
    struct adoption_seen own[ADOPTIONS_SEEN]; /* a ring: the latest ones */
    uint64_t own_count;                       /* since the start */
    uint64_t own_deaths;                      /* those of them that did not end in order */
    struct adoption_seen all[ADOPTIONS_SEEN]; /* of all gateways, the newest first */
    size_t count;
};

/* This gateway adopted another one. */
void adoptions_add(struct adoptions *adoptions, const struct adoption_seen *seen);
/* The latest of its own; NULL: there was none. */
const struct adoption_seen *adoptions_last(const struct adoptions *adoptions);

/* Adds what the beats say of them to a text of STORE_PARTS_MAX, behind the configuration. */
void adoptions_write(const struct adoptions *adoptions, char *text);
/* Takes over what the members say. */
void adoptions_on_beat(struct adoptions *adoptions, const struct store_members *members);

#endif
