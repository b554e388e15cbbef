package io.tessera.guardian.fence.proof.value;

/**
 * How often a loop goes on whose counter is compared every time round.
 *
 * @param first  the counter when it is first compared
 * @param step   what is added to it between two comparisons
 * @param other  what it is compared with
 * @param signed whether as signed numbers
 * @param bits   width of the counter
 */
public record TripCount(AbstractValue first, AbstractValue step, AbstractValue other, boolean signed, int bits) {
    /** No bound is known. */
    public static final long UNBOUNDED = Long.MAX_VALUE;

    /** How often the counter can be less (and so on) than the other side, which may change meanwhile. */
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
                // Without that, the counter could pass the end of its range and be small again.
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
     * How often the counter can differ from the other side, which stays the same: it comes to every number that differs from
     * where it starts by a multiple of the largest power of two in its step.
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
