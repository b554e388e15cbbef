package io.tessera.guardian.fence.proof.value;

import io.tessera.guardian.ptx.Variable;
import java.util.Objects;

/**
 * The possible contents of an integer register of w bits: the address of a variable (or 0, if there is none) plus a number m between two bounds,
 * modulo 2^w. Because of the modulus, additions and multiplications that wrap need no special handling; only code that needs the number as signed or
 * unsigned does ({@link #signed}, {@link #unsigned}). In addition, m is a multiple of {@code 2^zeros}. Immutable.
 *
 * @param variable the variable, or null
 * @param generic  whether it is the generic address, not that in its own space
 * @param low      lowest m, or {@link Long#MIN_VALUE} with {@code high} {@link Long#MAX_VALUE} if nothing is known
 * @param high     highest m
 * @param zeros    known trailing zero bits of m, at most {@link #MOST_ZEROS}
 */
public record AbstractValue(Variable variable, boolean generic, long low, long high, int zeros) {
    /** Trailing zeros that are counted; 0 has as many. */
    static final int MOST_ZEROS = 32;
    /** Bounds beyond it are dropped; products and sums of two bounds within it are computed exactly, or their overflow is detected. */
    static final long LARGEST = 1L << 61;
    /** Anything. */
    public static final AbstractValue TOP = new AbstractValue(null, false, Long.MIN_VALUE, Long.MAX_VALUE, 0);

    /** A number between two bounds. */
    public static AbstractValue between(long low, long high) {
        return of(null, false, low, high, low == high ? zeros(low) : 0);
    }

    /** Returns the value that is a single number. */
    public static AbstractValue constant(long value) {
        return value < -LARGEST || value > LARGEST ? multiple(zeros(value)) : of(null, false, value, value, zeros(value));
    }

    /** Any multiple of {@code 2^zeros}. */
    public static AbstractValue multiple(int zeros) {
        return new AbstractValue(null, false, Long.MIN_VALUE, Long.MAX_VALUE, Math.min(zeros, MOST_ZEROS));
    }

    /** Address of a variable. */
    public static AbstractValue address(Variable variable, long offset) {
        return of(variable, false, offset, offset, zeros(offset));
    }

    /** The address of a variable, or 0 where it is null, plus a number between two bounds, with this many trailing zeros. */
    public static AbstractValue of(Variable variable, boolean generic, long low, long high, int zeros) {
        if (low > high) {
            throw new IllegalArgumentException(low + " > " + high);
        }
        boolean bounded = low >= -LARGEST && high <= LARGEST;
        return new AbstractValue(variable, generic, bounded ? low : Long.MIN_VALUE, bounded ? high : Long.MAX_VALUE,
                Math.min(zeros, MOST_ZEROS));
    }

    static int zeros(long value) {
        return value == 0 ? MOST_ZEROS : Math.min(MOST_ZEROS, Long.numberOfTrailingZeros(value));
    }

    /** Returns whether the number is bounded. */
    public boolean bounded() {
        return low != Long.MIN_VALUE;
    }

    /** Returns whether it is a single number. */
    public boolean isConstant() {
        return variable == null && bounded() && low == high;
    }

    /** Returns this value without bounds if they cover the whole range of a register of that width. */
    public AbstractValue in(int bits) {
        boolean all = bounded() && bits < 62 && high - low >= (1L << bits) - 1;
        return all ? new AbstractValue(variable, generic, Long.MIN_VALUE, Long.MAX_VALUE, zeros) : this;
    }

    /** Returns the facts that remain without the variable. */
    public AbstractValue withoutVariable() {
        return variable == null ? this : multiple(0);
    }

    /** Returns this value with at least this many trailing zeros. */
    public AbstractValue withZeros(int known) {
        return new AbstractValue(variable, generic, low, high, Math.min(MOST_ZEROS, Math.max(zeros, known)));
    }

    /** Returns whether both are relative to the same address. */
    public boolean sameBase(AbstractValue other) {
        return Objects.equals(variable, other.variable) && (variable == null || generic == other.generic);
    }

    /** Either. */
    public AbstractValue join(AbstractValue other) {
        if (equals(other)) {
            return this;
        }
        if (!sameBase(other)) {
            return TOP;
        }
        return new AbstractValue(variable, generic, Math.min(low, other.low), Math.max(high, other.high),
                Math.min(zeros, other.zeros)).bothOrNone();
    }

    private AbstractValue bothOrNone() {
        boolean whole = low != Long.MIN_VALUE && high != Long.MAX_VALUE;
        return whole ? this : new AbstractValue(variable, generic, Long.MIN_VALUE, Long.MAX_VALUE, zeros);
    }

    /**
     * The number that a register of this many bits shows as a signed integer: no variable, always bounded for widths up to 32.
     */
    public AbstractValue signed(int bits) {
        if (bits >= 62) {
            return variable == null ? this : multiple(0);
        }
        return window(bits, -(1L << bits - 1));
    }

    /** As {@link #signed}, as an unsigned integer; the result for a 64-bit register may be unbounded. */
    public AbstractValue unsigned(int bits) {
        if (bits >= 62) {
            return variable == null && bounded() && low >= 0 ? this : multiple(variable == null ? zeros : 0);
        }
        return window(bits, 0);
    }

    /** The numbers modulo 2^bits that start at {@code least}. */
    private AbstractValue window(int bits, long least) {
        long size = 1L << bits;
        int kept = Math.min(variable == null ? zeros : 0, bits);
        if (variable == null && bounded()) {
            long shift = Math.floorDiv(low - least, size) * size;
            if (high - shift < least + size) {
                return new AbstractValue(null, false, low - shift, high - shift, low == high ? zeros(low - shift) : kept);
            }
        }
        return new AbstractValue(null, false, least, least + size - 1, kept);
    }

    @Override
    public String toString() {
        return (variable == null ? "" : (generic ? "generic " : "") + variable.name() + " + ")
                + (bounded() ? "[" + low + ", " + high + "]" : "any") + (zeros > 0 ? " * 2^" + zeros : "");
    }
}
