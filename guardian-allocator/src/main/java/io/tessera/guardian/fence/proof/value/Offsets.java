package io.tessera.guardian.fence.proof.value;

/**
 * Where a shadow can be: the inside of the window plus a number between two bounds, both included.
 *
 * @param low  lowest
 * @param high highest
 */
public record Offsets(long low, long high) {
    /** Inside. */
    public static final Offsets INSIDE = new Offsets(0, 0);
    /** Nothing is known but that it goes on from the inside by the program's own sums. */
    public static final Offsets ANYWHERE = new Offsets(Long.MIN_VALUE, Long.MAX_VALUE);

    /** These, moved by an amount. */
    public Offsets plus(AbstractValue amount) {
        return equals(ANYWHERE) ? ANYWHERE : new Offsets(saturated(low, amount.low()), saturated(high, amount.high()));
    }

    /** Either. */
    public Offsets join(Offsets other) {
        return new Offsets(Math.min(low, other.low), Math.max(high, other.high));
    }

    /** These, and up to so many steps further. */
    public Offsets drifting(AbstractValue step, long rounds) {
        long down = step.low() >= 0 ? 0 : product(step.low(), rounds);
        long up = step.high() <= 0 ? 0 : product(step.high(), rounds);
        return new Offsets(saturated(low, down), saturated(high, up));
    }

    private static long product(long step, long rounds) {
        return Math.multiplyHigh(step, rounds) == step * rounds >> 63 ? step * rounds
                : step < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    private static long saturated(long a, long b) {
        long sum = a + b;
        return ((a ^ sum) & (b ^ sum)) >= 0 ? sum : a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** Whether accesses of so many bytes stay within the window and its guard bands. */
    public boolean fit(long guardBytes, long accessBytes) {
        return low >= -guardBytes && high <= guardBytes - accessBytes;
    }
}
