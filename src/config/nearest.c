#include "config/nearest.h"

/* Longer words are never typos of an option's name. */
#define WORD_MAX 64

void nearest_init(struct nearest *nearest, struct slice wanted)
{
    /* A third of the letters may be wrong; beyond that a suggestion would be a guess. */
    *nearest = (struct nearest){.wanted = wanted, .distance = 2 + wanted.len / 3};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that turn a into b, where swapping two neighbours is one edit (optimal string alignment). */
static size_t edit_distance(struct slice a, struct slice b)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        const size_t *const before = rows[(i + 1) % 3]; /* of i - 2 */
        const size_t *const last = rows[(i - 1) % 3];
        size_t *const row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            const size_t cost = a.data[i - 1] == b.data[j - 1] ? 0 : 1;
            row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

void nearest_offer(struct nearest *nearest, struct slice word)
{
    if (nearest->wanted.len > WORD_MAX || word.len > WORD_MAX)
        return;
    const size_t distance = edit_distance(nearest->wanted, word);
    /* A word that needs as many edits as it has letters has nothing in common. */
    if (distance >= nearest->distance || distance >= word.len)
        return;
    nearest->best = word;
    nearest->distance = distance;
}
