#include "base/rand.h"

/* xoshiro256** by Blackman and Vigna (prng.di.unimi.it), seeded with splitmix64 as they advise. */

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static uint64_t splitmix_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void rand_init(struct rand *rand, uint64_t seed)
{
    /* splitmix64 never yields four zeros in a row, the one state that xoshiro cannot leave. */
    for (int i = 0; i < 4; i++)
        rand->state[i] = splitmix_next(&seed);
}

void rand_mix(struct rand *rand, uint64_t entropy)
{
    /* Mixed into the old state instead of replacing it, so that earlier entropy is kept. */
    uint64_t seed = entropy ^ rand_u64(rand);
    for (int i = 0; i < 4; i++)
        rand->state[i] ^= splitmix_next(&seed);
    if ((rand->state[0] | rand->state[1] | rand->state[2] | rand->state[3]) == 0)
        rand_init(rand, entropy);
}

uint64_t rand_u64(struct rand *rand)
{
    uint64_t *s = rand->state;
    const uint64_t result = rotate(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rand_below(struct rand *rand, uint64_t bound)
{
    if (bound <= 1)
        return 0;
    /* Draws as many bits as bound - 1 has until the number fits: no bias, under two draws on average. */
    const uint64_t mask = UINT64_MAX >> __builtin_clzll(bound - 1);
    uint64_t drawn;
    do {
        drawn = rand_u64(rand) & mask;
    } while (drawn >= bound);
    return drawn;
}
