package io.tessera.guardian.fence.proof.value;

/**
 * Bounds the iterations of a loop whose counter is compared in every iteration.
 *
 * @param first  the counter at the first comparison
 * @param step   its increment between two comparisons
 * @param other  the other side of the comparison
 * @param signed whether the comparison is signed
 * @param bits   width of the counter
 */
public record TripCount(AbstractValue first, AbstractValue step, AbstractValue other, boolean signed, int bits) {
    /** No bound is known. */
    public static final long UNBOUNDED = Long.MAX_VALUE;

    /** Returns how often the counter can be less than (or in another order to) the other side, which may change meanwhile. */
    public long whileOrdered(String relation) {
        AbstractValue from = signed ? first.signed(bits) : first.unsigned(bits);
        AbstractValue limit = signed ? other.signed(bits) : other.unsigned(bits);
        if (!from.bounded() || !limit.bounded()) {
            return UNBOUNDED;
        }
        long least = bits == 64 ? signed ? Long.MIN_VALUE / 2 : 0 : signed ? -(1L << bits - 1) : 0;
        long most = bits == 64 ? Long.MAX_VALUE / 2 : signed ? (1L << bits - 1) - 1 : (1L << bits) - 1;
        switch (relation) {
            case "lt", "le" -> {
                long last = relation.equals("lt") ? limit.high() - 1 : limit.high();
                // Without this check, the counter could overflow its range and be small again.
                boolean wraps = last > most - step.high();
                return step.low() < 1 || wraps ? UNBOUNDED
                        : last < from.low() ? 0 : (last - from.low()) / step.low() + 1;
            }
            case "gt", "ge" -> {
                long last = relation.equals("gt") ? limit.low() + 1 : limit.low();
                boolean wraps = last < least - step.low();
                return step.high() > -1 || wraps ? UNBOUNDED
                        : last > from.high() ? 0 : (from.high() - last) / -step.high() + 1;
            }
            default -> {
                return UNBOUNDED;
            }
        }
    }

    /**
     * Returns how often the counter can differ from the other side, which does not change. The counter reaches every number that differs from its
     * start by a multiple of the largest power of two in its step.
     */
    public long untilEqual() {
        boolean numbers = step.isConstant() && step.low() != 0 && first.variable() == null && other.variable() == null;
        int power = numbers ? Long.numberOfTrailingZeros(step.low()) : 0;
        if (!numbers || power > Math.max(Math.min(first.zeros(), other.zeros()),
                IntervalArithmetic.subtract(other, first).zeros())) {
            return UNBOUNDED;
        }
        long whole = bits <= 32 && power < bits ? (1L << bits - power) - 1 : UNBOUNDED;
        boolean straight = Math.abs(step.low()) == 1L << power && first.bounded() && other.bounded();
        if (straight && step.low() < 0 && first.low() >= other.high()) {
            return Math.min(whole, (first.high() - other.low()) >> power);
        }
        if (straight && step.low() > 0 && first.high() <= other.low()) {
            return Math.min(whole, (other.high() - first.low()) >> power);
        }
        return whole;
    }
}
