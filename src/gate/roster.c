#include "gate/roster.h"

#include "base/assert.h"
#include "config/config_parts.h"
#include "engine/fair.h"
#include "store/store_pulse.h"
#include "sys/log.h"

#include <stdlib.h>

_Static_assert(STORE_MEMBERS_MAX <= FAIR_MOST, "every member gets a share");

const char *node_state_name(enum node_state state)
{
    static const char *const names[NODE_STATES] = {
        [NODE_UNHEARD] = "unheard", [NODE_ALIVE] = "alive",     [NODE_DEAD] = "dead",
        [NODE_LEFT] = "left",       [NODE_ADOPTED] = "adopted",
    };
    return names[state];
}

void roster_init(struct roster *roster)
{
    *roster = (struct roster){
        .nodes = calloc(STORE_MEMBERS_MAX, sizeof *roster->nodes),
        .before = calloc(STORE_MEMBERS_MAX, sizeof *roster->before),
    };
    ASSERT(roster->nodes != NULL && roster->before != NULL);
}

void roster_close(struct roster *roster)
{
    free(roster->nodes);
    free(roster->before);
    *roster = (struct roster){.nodes = NULL};
}

/* ---- beats ------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const node_id left = ((const struct known_node *)a)->id;
    const node_id right = ((const struct known_node *)b)->id;
    return (left > right) - (left < right);
}

static void tell(const struct known_node *node, enum log_level level, const char *event,
                 const char *meaning)
{
    LOG(level, event, log_string("node", node->name), log_number("number", (int64_t)node->id),
        log_string("meaning", meaning));
}

/* Who was there before us may be dead for long: its beat has to move first. */
static void meet(const struct roster *roster, struct known_node *node)
{
    node->state = node->is_self || roster->has_heard ? NODE_ALIVE : NODE_UNHEARD;
    if (node->state == NODE_ALIVE)
        tell(node, LOG_LEVEL_INFO, "node_joined",
             node->is_self ? "this gateway shares the store" : "it shares the store with this one");
}

static void hear(struct known_node *node, const struct known_node *before)
{
    node->state = NODE_ALIVE;
    if (before->state == NODE_UNHEARD)
        tell(node, LOG_LEVEL_INFO, "node_joined", "it shared the store before this one did");
    else if (before->state == NODE_DEAD)
        tell(node, LOG_LEVEL_INFO, "node_back", "it says again that it lives");
}

static void miss(struct known_node *node, const struct known_node *before, uint32_t lease_ms,
                 int64_t now_ms)
{
    node->state = before->state;
    node->moved_ms = before->moved_ms;
    if (before->state == NODE_DEAD || now_ms - before->moved_ms < lease_ms)
        return;
    node->state = NODE_DEAD;
    tell(node, LOG_LEVEL_WARN, "node_dead",
         "it has not said for the whole of cluster.lease that it lives");
}

/* While the store was away, nobody's beat could move: waiting begins anew. */
static void judge(struct known_node *node, const struct known_node *before,
                  const struct store_beat *beat, uint32_t lease_ms)
{
    if (node->beat != before->beat)
        hear(node, before);
    else if (beat->is_steady)
        miss(node, before, lease_ms, beat->sent_ms);
    else
        node->state = before->state;
}

/* Somebody may have adopted it before we knew that it is dead. */
static void end(struct known_node *node, const struct known_node *before, bool is_adopted)
{
    const bool was_there = before->state == NODE_ALIVE || before->state == NODE_UNHEARD;
    node->state = is_adopted ? NODE_ADOPTED : NODE_LEFT;
    if (before->state == node->state)
        node->moved_ms = before->moved_ms;
    else if (!is_adopted)
        tell(node, LOG_LEVEL_INFO, "node_left", "it ended in order");
    else if (was_there)
        tell(node, LOG_LEVEL_WARN, "node_dead", "another gateway found so and adopted it");
}

/* Whoever joins with another configuration says so, and so do those who are there. */
static void compare(const struct roster *roster, struct known_node *node, const char *parts,
                    unsigned before)
{
    struct buf list;
    if (node->is_self || node->state != NODE_ALIVE)
        return;
    node->differs = config_parts_compare(roster->parts, parts);
    if (node->differs == before)
        return;
    if (node->differs == 0) {
        tell(node, LOG_LEVEL_INFO, "config_agrees",
             "its configuration is again as that of this gateway");
        return;
    }
    buf_init(&list, 256);
    config_parts_list(node->differs, &list);
    LOG(LOG_LEVEL_WARN, "config_differs", log_string("node", node->name),
        log_number("number", (int64_t)node->id), log_text("what", buf_slice(&list)),
        log_string("meaning", "gateways that share a store should have the same configuration: "
                              "what is answered now depends on who is asked"));
    buf_close(&list);
}

static void take_one(struct roster *roster, const struct store_member *member, uint16_t self,
                     const struct store_beat *beat, uint32_t lease_ms)
{
    struct known_node *const node = &roster->nodes[roster->count];
    *node = (struct known_node){
        .id = member->incarnation,
        .beat = member->beat,
        .moved_ms = beat->sent_ms,
        .demand = member->demand,
        .is_self = member->node == self,
    };
    memcpy(node->name, member->name, sizeof node->name);
    const struct known_node *const before =
        roster->before_count == 0
            ? NULL
            : bsearch(node, roster->before, roster->before_count, sizeof *node, by_id);
    /* Names of gateways that were gone when we came are nobody's business any more. */
    const bool has_ended = member->has_left || member->is_gone;
    if (has_ended && before == NULL)
        return;
    roster->count++;
    if (has_ended) {
        end(node, before, member->is_gone);
    } else if (before == NULL) {
        meet(roster, node);
    } else {
        judge(node, before, beat, lease_ms);
    }
    const bool is_there = node->state == NODE_ALIVE || node->state == NODE_UNHEARD;
    node->is_rewriting =
        is_there && !node->is_self && strstr(member->parts, STORE_PARTS_REWRITING) != NULL;
    compare(roster, node, member->parts, before == NULL ? 0 : before->differs);
}

void roster_on_beat(struct roster *roster, const struct store_beat *beat, uint16_t self,
                    uint32_t lease_ms)
{
    struct known_node *const reused = roster->before;
    roster->before = roster->nodes;
    roster->before_count = roster->count;
    roster->nodes = reused;
    roster->count = 0;
    for (uint32_t i = 0; i < beat->members->count; i++)
        take_one(roster, &beat->members->all[i], self, beat, lease_ms);
    if (roster->count > 0)
        qsort(roster->nodes, roster->count, sizeof *roster->nodes, by_id);
    roster->has_heard = true;
}

/* ---- views ------------------------------------------------------------------------------- */

const struct known_node *roster_find(const struct roster *roster, node_id id)
{
    const struct known_node wanted = {.id = id};
    return roster->count == 0
               ? NULL
               : bsearch(&wanted, roster->nodes, roster->count, sizeof wanted, by_id);
}

uint32_t roster_count(const struct roster *roster, enum node_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < roster->count; i++)
        count += roster->nodes[i].state == state;
    return count;
}

bool roster_has_rewriting(const struct roster *roster)
{
    for (uint32_t i = 0; i < roster->count; i++)
        if (roster->nodes[i].is_rewriting)
            return true;
    return false;
}

uint32_t roster_count_differing(const struct roster *roster)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < roster->count; i++)
        count += roster->nodes[i].differs != 0;
    return count;
}

void roster_shares(const struct roster *roster, uint32_t plan, uint32_t *shares)
{
    struct fair_wish wishes[STORE_MEMBERS_MAX];
    uint32_t places[STORE_MEMBERS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < roster->count; i++) {
        shares[i] = 0;
        if (roster->nodes[i].state == NODE_LEFT || roster->nodes[i].state == NODE_ADOPTED)
            continue;
        places[count] = i;
        wishes[count++] = (struct fair_wish){.demand = roster->nodes[i].demand.slots};
    }
    for (uint32_t i = 0; i < count; i++)
        shares[places[i]] = fair_share(plan, wishes, count, i);
}

const char *roster_own_name(const struct roster *roster)
{
    static const char nobody[STORE_NAME_MAX];
    for (uint32_t i = 0; i < roster->count; i++)
        if (roster->nodes[i].is_self)
            return roster->nodes[i].name;
    return nobody;
}
