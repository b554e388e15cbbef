/* The victim's secret: word `index` of a region. The runner computes the same (io.tessera.attacks.VictimSecret). */
#ifndef ATTACKS_SECRET_H
#define ATTACKS_SECRET_H

#include <stdint.h>

/* SplitMix64's finaliser (Steele, Lea and Flood, 2014): words that no attacker meets by chance. */
static inline uint64_t secret_word(uint64_t seed, uint64_t region, uint64_t index)
{
    uint64_t z = seed + (region << 40) + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
