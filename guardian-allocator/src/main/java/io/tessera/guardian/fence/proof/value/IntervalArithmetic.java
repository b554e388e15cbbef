package io.tessera.guardian.fence.proof.value;

/**
 * Arithmetic on {@link AbstractValue}s. The results hold modulo any power of two that the operands hold modulo, unless a method
 * says that it wants true numbers. Stateless.
 */
public final class IntervalArithmetic {
    private IntervalArithmetic() {
    }

    /** The sum. */
    public static AbstractValue add(AbstractValue a, AbstractValue b) {
        if (a.variable() != null && b.variable() != null) {
            return AbstractValue.TOP;
        }
        AbstractValue base = a.variable() != null ? a : b;
        int zeros = Math.min(a.zeros(), b.zeros());
        if (!a.bounded() || !b.bounded()) {
            return unbounded(base, zeros);
        }
        return AbstractValue.of(base.variable(), base.generic(), a.low() + b.low(), a.high() + b.high(),
                exact(a.low() + b.low(), a.high() + b.high(), zeros));
    }

    /** The difference; of two addresses of one variable it is a number. */
    public static AbstractValue subtract(AbstractValue a, AbstractValue b) {
        if (b.variable() == null) {
            return add(a, negate(b));
        }
        if (!a.sameBase(b) || !a.bounded() || !b.bounded()) {
            return a.sameBase(b) ? AbstractValue.multiple(Math.min(a.zeros(), b.zeros())) : AbstractValue.TOP;
        }
        return AbstractValue.of(null, false, a.low() - b.high(), a.high() - b.low(), Math.min(a.zeros(), b.zeros()));
    }

    /** The number with its sign changed. */
    public static AbstractValue negate(AbstractValue a) {
        if (a.variable() != null || !a.bounded()) {
            return AbstractValue.multiple(a.variable() == null ? a.zeros() : 0);
        }
        return AbstractValue.of(null, false, -a.high(), -a.low(), a.zeros());
    }

    /** The product. */
    public static AbstractValue multiply(AbstractValue a, AbstractValue b) {
        if (a.variable() != null || b.variable() != null) {
            return AbstractValue.TOP;
        }
        int zeros = a.zeros() + b.zeros();
        if (!a.bounded() || !b.bounded()) {
            return AbstractValue.multiple(zeros);
        }
        long low = Long.MAX_VALUE;
        long high = Long.MIN_VALUE;
        for (long x : new long[] {a.low(), a.high()}) {
            for (long y : new long[] {b.low(), b.high()}) {
                if (Math.multiplyHigh(x, y) != x * y >> 63) {
                    return AbstractValue.multiple(zeros);
                }
                low = Math.min(low, x * y);
                high = Math.max(high, x * y);
            }
        }
        return AbstractValue.of(null, false, low, high, exact(low, high, zeros));
    }

    /** Times 2^shift. */
    static AbstractValue shiftLeft(AbstractValue a, int shift) {
        return shift > 61 ? multiply(multiply(a, AbstractValue.constant(1L << 61)), AbstractValue.constant(1L << shift - 61))
                : multiply(a, AbstractValue.constant(1L << shift));
    }

    /** A true number divided by 2^shift, rounded down. */
    static AbstractValue shiftRight(AbstractValue a, int shift) {
        int by = Math.min(shift, 63);
        int zeros = Math.max(0, a.zeros() - by);
        if (a.variable() != null || !a.bounded()) {
            return AbstractValue.TOP;
        }
        // The many zeros of the number 0 stand for all.
        return AbstractValue.of(null, false, a.low() >> by, a.high() >> by,
                exact(a.low() >> by, a.high() >> by, zeros));
    }

    /** Either one of true numbers, the smaller. */
    static AbstractValue minimum(AbstractValue a, AbstractValue b) {
        int zeros = Math.min(a.zeros(), b.zeros());
        if (!a.bounded() || !b.bounded()) {
            return AbstractValue.multiple(zeros);
        }
        return AbstractValue.of(null, false, Math.min(a.low(), b.low()), Math.min(a.high(), b.high()), zeros);
    }

    /** Either one of true numbers, the larger. */
    static AbstractValue maximum(AbstractValue a, AbstractValue b) {
        int zeros = Math.min(a.zeros(), b.zeros());
        if (!a.bounded() || !b.bounded()) {
            return AbstractValue.multiple(zeros);
        }
        return AbstractValue.of(null, false, Math.max(a.low(), b.low()), Math.max(a.high(), b.high()), zeros);
    }

    /** Bits of both, of registers of that width. */
    public static AbstractValue and(AbstractValue a, AbstractValue b, int bits) {
        AbstractValue x = a.unsigned(bits);
        AbstractValue y = b.unsigned(bits);
        int zeros = Math.max(x.zeros(), y.zeros());
        AbstractValue aligned = b.isConstant() ? alignDown(a, b.low(), bits)
                : a.isConstant() ? alignDown(b, a.low(), bits) : null;
        if (aligned != null) {
            return aligned;
        }
        boolean known = x.bounded() || y.bounded();
        if (!known) {
            return AbstractValue.multiple(zeros);
        }
        long high = Math.min(x.bounded() ? x.high() : Long.MAX_VALUE, y.bounded() ? y.high() : Long.MAX_VALUE);
        return AbstractValue.of(null, false, 0, high, exact(0, high, zeros));
    }

    /** {@code m & -2^k}, or null if the mask does not have this form. */
    private static AbstractValue alignDown(AbstractValue m, long mask, int bits) {
        long inverse = bits == 64 ? ~mask : ~mask & (1L << bits) - 1;
        if (m.variable() != null || !m.bounded() || inverse < 0 || (inverse & inverse + 1) != 0) {
            return null;
        }
        return AbstractValue.of(null, false, m.low() & ~inverse, m.high() & ~inverse,
                Math.max(m.zeros(), Long.bitCount(inverse)));
    }

    /** Bits of either, or bits of one alone: no more bits than the longer has. */
    static AbstractValue merge(AbstractValue a, AbstractValue b, int bits, boolean exclusive) {
        AbstractValue x = a.unsigned(bits);
        AbstractValue y = b.unsigned(bits);
        int zeros = Math.min(x.zeros(), y.zeros());
        if (!x.bounded() || !y.bounded()) {
            return AbstractValue.multiple(zeros);
        }
        long most = x.high() | y.high();
        long high = most == 0 ? 0 : Long.highestOneBit(most) * 2 - 1;
        return AbstractValue.of(null, false, exclusive ? 0 : Math.max(x.low(), y.low()), high, zeros);
    }

    private static AbstractValue unbounded(AbstractValue base, int zeros) {
        return new AbstractValue(base.variable(), base.generic(), Long.MIN_VALUE, Long.MAX_VALUE,
                Math.min(zeros, AbstractValue.MOST_ZEROS));
    }

    private static int exact(long low, long high, int zeros) {
        return low == high ? AbstractValue.zeros(low) : zeros;
    }
}
