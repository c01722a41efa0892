/* Budgets of gateways that share a store: nobody spends a unit of a client's day that it has not drawn there. */
#ifndef SOLVEGATE_BUDGETS_H
#define SOLVEGATE_BUDGETS_H

#include <solvegate/types.h>

struct engine;

/* Of what nobody has drawn yet, a draw brings at most this part in advance, and never more units than that. */
#define BUDGET_BLOCK_PART 16
#define BUDGET_BLOCK_MOST 100

/* Changes how many units of a client's day this node has. The store keeps, for each node, how many its runs had before
 * and how many this run has. It sets the latter anew, so that a draw may be sent twice: to what is used and needed, as
 * far as nobody else has it, and a part of what is left then. What is used is a fact and counts also beyond the budget.
 * All of that is one transaction; budget_decide() is the rule. */
struct draw {
    client_id client;
    int64_t day; /* since 1970, UTC */
    uint64_t number;
    uint64_t budget; /* of the day, for all nodes together */
    uint64_t before; /* spent by this node before this run, as far as its rows tell */
    uint64_t used;   /* by this run: spent, or on their way */
    uint64_t need;   /* more of them */
    uint64_t block;  /* in advance, at most */
};

/* How an ACTION_DRAW ended. */
struct drawn {
    client_id client;
    uint64_t number; /* as in the draw */
    bool is_known;   /* else the store did not answer */
    uint64_t held;   /* units that this run has, together with those that it used */
    uint64_t left;   /* units that nobody has */
};

/* What the store decides, where `others` is what all other nodes have, and earlier runs of this one. */
static inline void budget_decide(const struct draw *draw, uint64_t others, struct drawn *drawn)
{
    const uint64_t room = draw->budget > others ? draw->budget - others : 0;
    const uint64_t wanted = draw->used + draw->need;
    uint64_t held = wanted < room ? wanted : room;
    uint64_t more = (room - held) / BUDGET_BLOCK_PART;
    if (more > draw->block)
        more = draw->block;
    held += more;
    if (held < draw->used)
        held = draw->used;
    drawn->is_known = true;
    drawn->held = held;
    drawn->left = room > held ? room - held : 0;
}

/* For the shutdown, after the last submit: gives back what this node will not use. */
void engine_give_back_units(struct engine *engine);

#endif
