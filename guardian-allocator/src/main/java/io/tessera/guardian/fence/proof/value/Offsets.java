package io.tessera.guardian.fence.proof.value;

/**
 * The possible positions of a shadow: the inside of the window plus a number between two bounds, both included.
 *
 * @param low  lowest
 * @param high highest
 */
public record Offsets(long low, long high) {
    /** Inside. */
    public static final Offsets INSIDE = new Offsets(0, 0);
    /** Only known to be the inside plus the program's own sums. */
    public static final Offsets ANYWHERE = new Offsets(Long.MIN_VALUE, Long.MAX_VALUE);

    /** These, moved by an amount. */
    public Offsets plus(AbstractValue amount) {
        return equals(ANYWHERE) ? ANYWHERE : new Offsets(saturated(low, amount.low()), saturated(high, amount.high()));
    }

    /** Either. */
    public Offsets join(Offsets other) {
        return new Offsets(Math.min(low, other.low), Math.max(high, other.high));
    }

    private static long saturated(long a, long b) {
        long sum = a + b;
        return ((a ^ sum) & (b ^ sum)) >= 0 ? sum : a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** Returns whether accesses of this many bytes stay within the window and its guard bands. */
    public boolean fit(long guardBytes, long accessBytes) {
        return low >= -guardBytes && high <= guardBytes - accessBytes;
    }
}
