#include "engine/share.h"

#include "base/assert.h"

#include <stdlib.h>

/* A client may hold up to this many times the amount that is left. */
#define SHARE_FACTOR 4

void share_init(struct share *share, uint32_t client_room, uint64_t room)
{
    *share = (struct share){.room = room, .client_room = client_room};
    share->held = calloc(client_room, sizeof *share->held);
    share->loose = calloc(client_room, sizeof *share->loose);
    ASSERT(share->held != NULL && share->loose != NULL);
}

void share_close(struct share *share)
{
    free(share->held);
    free(share->loose);
}

void share_take(struct share *share, uint32_t client, uint64_t amount)
{
    share->holders += share->held[client] == 0 && amount > 0;
    share->held[client] += amount;
    share->total += amount;
}

void share_give(struct share *share, uint32_t client, uint64_t amount)
{
    ASSERT(share->held[client] - share->loose[client] >= amount && share->total >= amount);
    share->held[client] -= amount;
    share->total -= amount;
    share->holders -= share->held[client] == 0 && amount > 0;
}

void share_loosen(struct share *share, uint32_t client, uint64_t amount)
{
    share->loose[client] += amount;
    share->total_loose += amount;
    ASSERT(share->loose[client] <= share->held[client]);
}

void share_fasten(struct share *share, uint32_t client, uint64_t amount)
{
    ASSERT(share->loose[client] >= amount);
    share->loose[client] -= amount;
    share->total_loose -= amount;
}

bool share_admits(const struct share *share, uint32_t clients, uint32_t client, uint64_t amount)
{
    const uint64_t fast = share->total - share->total_loose;
    const uint64_t left = share->room > fast ? share->room - fast : 0;
    const uint64_t own = share->held[client] - share->loose[client];
    if (amount > left)
        return false;
    /* An amount of nothing is always admitted. */
    if (amount == 0)
        return true;
    return clients == 1 || (own + amount + SHARE_FACTOR - 1) / SHARE_FACTOR <= left;
}

/* Linear search over two short arrays: a thousand clients take less than a microsecond. */
uint32_t share_greediest(const struct share *share)
{
    uint32_t greediest = NO_CLIENT;
    uint64_t most = 0;
    for (uint32_t i = 0; i < share->client_room; i++) {
        if (share->held[i] <= most || share->loose[i] == 0)
            continue;
        most = share->held[i];
        greediest = i;
    }
    return greediest;
}

uint32_t share_yields(const struct share *share, uint32_t client)
{
    const uint32_t greediest = share_greediest(share);
    if (greediest == NO_CLIENT || greediest == client)
        return greediest;
    const uint64_t even = share->room / (share->holders + (share->held[client] == 0));
    const bool has_less =
        share->held[client] < share->held[greediest] || share->held[client] < even;
    return has_less ? greediest : NO_CLIENT;
}
