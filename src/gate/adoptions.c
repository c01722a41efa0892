#include "gate/adoptions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_NAME " adopted:"
/* The year 9999; later ones can only be damage. */
#define WALL_MOST_MS INT64_C(253402300799999)

/* ---- remembering ------------------------------------------------------------------------- */

static bool is_known(const struct adoptions *adoptions, node_id id)
{
    for (size_t i = 0; i < adoptions->count; i++)
        if (adoptions->all[i].id == id)
            return true;
    return false;
}

static void remember(struct adoptions *adoptions, const struct adoption_seen *seen)
{
    size_t place = 0;
    while (place < adoptions->count && adoptions->all[place].wall_ms >= seen->wall_ms)
        place++;
    if (place == ADOPTIONS_SEEN || is_known(adoptions, seen->id))
        return;
    adoptions->count += adoptions->count < ADOPTIONS_SEEN;
    memmove(&adoptions->all[place + 1], &adoptions->all[place],
            (adoptions->count - place - 1) * sizeof *seen);
    adoptions->all[place] = *seen;
}

void adoptions_add(struct adoptions *adoptions, const struct adoption_seen *seen)
{
    adoptions->own[adoptions->own_count++ % ADOPTIONS_SEEN] = *seen;
    adoptions->own_deaths += seen->was_dead;
    remember(adoptions, seen);
}

const struct adoption_seen *adoptions_last(const struct adoptions *adoptions)
{
    return adoptions->own_count == 0 ? NULL
                                     : &adoptions->own[(adoptions->own_count - 1) % ADOPTIONS_SEEN];
}

/* ---- telling ----------------------------------------------------------------------------- */

/* Node, run, rows and time in hexadecimal digits. */
void adoptions_write(const struct adoptions *adoptions, char *text)
{
    size_t len = strlen(text);
    for (uint64_t i = 0; i < adoptions->own_count && i < ADOPTIONS_TOLD; i++) {
        const struct adoption_seen *const seen =
            &adoptions->own[(adoptions->own_count - 1 - i) % ADOPTIONS_SEEN];
        const int more = snprintf(text + len, STORE_PARTS_MAX - len,
                                  "%s%x.%" PRIx64 ".%" PRIx64 ".%" PRIx64, i == 0 ? TEXT_NAME : ",",
                                  seen->node, seen->id, seen->rows, (uint64_t)seen->wall_ms);
        len += more > 0 ? (size_t)more : 0;
        if (len >= STORE_PARTS_MAX)
            return;
    }
}

/* Returns what follows the number; NULL if it does not end as it should. */
static const char *read_number(const char *text, const char *ends, uint64_t *number)
{
    char *end = NULL;
    *number = text == NULL ? 0 : strtoull(text, &end, 16);
    return end == NULL || end == text || strchr(ends, *end) == NULL ? NULL : end;
}

static const char *after(const char *end)
{
    return end == NULL ? NULL : end + 1;
}

/* Returns where the next one begins, or NULL. */
static const char *read_one(const char *text, struct adoption_seen *seen)
{
    uint64_t node, wall_ms;
    const char *next = after(read_number(text, ".", &node));
    next = after(read_number(next, ".", &seen->id));
    next = after(read_number(next, ".", &seen->rows));
    next = read_number(next, ", ", &wall_ms);
    if (next == NULL || wall_ms > (uint64_t)WALL_MOST_MS)
        return NULL;
    seen->node = (uint16_t)node;
    seen->wall_ms = (int64_t)wall_ms;
    return next;
}

static const char *name_of(const struct store_members *members, uint16_t node)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->all[i].node == node)
            return members->all[i].name;
    return "";
}

static void hear(struct adoptions *adoptions, const struct store_members *members,
                 const struct store_member *member)
{
    const char *const found = strstr(member->parts, TEXT_NAME);
    const char *next = found == NULL ? NULL : found + sizeof TEXT_NAME - 1;
    for (unsigned i = 0; next != NULL && i < ADOPTIONS_TOLD; i++) {
        struct adoption_seen seen = {.id = 0};
        next = read_one(next, &seen);
        if (next == NULL)
            return;
        (void)snprintf(seen.name, sizeof seen.name, "%s", name_of(members, seen.node));
        (void)snprintf(seen.by, sizeof seen.by, "%s", member->name);
        remember(adoptions, &seen);
        next = *next == ',' ? next + 1 : NULL;
    }
}

void adoptions_on_beat(struct adoptions *adoptions, const struct store_members *members)
{
    for (uint32_t i = 0; i < members->count; i++)
        hear(adoptions, members, &members->all[i]);
}
