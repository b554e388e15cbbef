package io.tessera.system;

import java.util.Random;

/** Random numbers of a test. Prints its seed, and takes the seed from {@code -Dtessera.seed} to repeat a run. */
public final class SeededRandom {
    private final Random random;
    private final long seed;

    public SeededRandom(String test) {
        seed = Long.getLong("tessera.seed", System.nanoTime());
        random = new Random(seed);
        System.out.println(test + ": seed " + seed + " (repeat with -Dtessera.seed=" + seed + ")");
    }

    public long seed() {
        return seed;
    }

    /** The numbers of one of several threads of a test, whose seeds come from the test's own. */
    public SeededRandom(String part, long seed) {
        this.seed = seed;
        random = new Random(seed);
        System.out.println(part + ": seed " + seed);
    }

    /** From 0 to {@code bound}, exclusive. */
    public int below(int bound) {
        return random.nextInt(bound);
    }
}
