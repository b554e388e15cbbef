package io.tessera.agent.clock;

/**
 * The agent's clock: nanoseconds that never decrease. Any thread; a test puts another source in its place.
 */
public final class Ticks {
    private static volatile Source source;

    private Ticks() {
    }

    /** Source of the nanoseconds. */
    @FunctionalInterface
    public interface Source {
        /**
         * Reads the clock.
         *
         * @return nanoseconds since a moment that stays the same
         */
        long nanos();
    }

    /**
     * Reads the clock.
     *
     * @return nanoseconds since a moment that stays the same
     */
    public static long nanos() {
        Source other = source;
        return other == null ? System.nanoTime() : other.nanos();
    }

    /**
     * Replaces the clock.
     *
     * @param other the clock from now on; null: the system's
     */
    public static void use(Source other) {
        source = other;
    }
}
