package io.tessera.attacks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;

/** What the victim keeps: the words of all its regions, as {@code programs/secret.h} makes them. Immutable. */
final class VictimSecret {
    /** Words of the largest region, and how many regions there are (programs/regions.h). */
    private static final int WORDS = 1 << 17;
    private static final int REGIONS = 6;

    private final Set<Long> words = HashSet.newHashSet(WORDS * REGIONS);

    VictimSecret(long seed) {
        for (long region = 0; region < REGIONS; region++) {
            for (long index = 0; index < (region == 0 ? WORDS : WORDS / 16); index++) {
                words.add(word(seed, region, index));
            }
        }
    }

    static long word(long seed, long region, long index) {
        long z = seed + (region << 40) + (index + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    /** How many words of the secret are in these bytes, at whatever place: 64 bits do not meet one by chance. */
    int seenIn(byte[] loot) {
        ByteBuffer bytes = ByteBuffer.wrap(loot).order(ByteOrder.LITTLE_ENDIAN);
        int seen = 0;
        for (int at = 0; at + Long.BYTES <= loot.length; at++) {
            if (words.contains(bytes.getLong(at))) {
                seen++;
            }
        }
        return seen;
    }
}
