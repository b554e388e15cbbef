package io.tessera.guardian.verify.value;

import io.tessera.guardian.verify.Symbol;

/**
 * Known facts about a register's bits. Numbers are intervals modulo 2^bits: a value is congruent to some whole number from low to high, so that sums
 * need no check for overflow. Addresses are a place plus such an interval. Immutable.
 *
 * @param kind      kind of the value
 * @param symbol    variable of the address; for {@link Kind#BELOW}: {@link Symbol#END}, or a variable
 * @param low       lowest number or distance
 * @param high      highest number or distance
 * @param align     log2 of a certain divisor of the whole value
 * @param certain   bytes of shared memory that certainly exist where the value does, since it comes from a variable of that size
 * @param needs     bytes of shared memory that must exist for this to hold
 * @param condition predicate under which the facts hold and those bytes are needed, or null
 * @param unless    whether they apply where the predicate does not hold
 */
public record Value(Kind kind, Symbol symbol, long low, long high, int align, long certain, long needs, Condition condition, boolean unless) {
    /** A predicate, told apart by identity. */
    public interface Condition {
    }

    /** See there. */
    public enum Kind {
        /** Not computed yet. */
        BOTTOM,
        /** A number. */
        NUMBER,
        /** Some address in the window. */
        WINDOW,
        /** Address of a variable, in its own space: shared, local, constant, parameters. */
        VARIABLE,
        /** As above, as a generic address. */
        GENERIC,
        /** Any address of shared memory that is not above the symbol plus {@link #high}, generic or not. */
        BELOW,
        /** As above, as a generic address. */
        GENERIC_BELOW,
        /** As above, in a module whose blocks are launched in clusters, where it may be in another block. */
        CUT,
        /** An address of shared memory of any block of the cluster with that many bytes behind it, {@link #high}. */
        CLUSTER,
        /** A generic address with that many bytes behind it, {@link #high}, that may be read and written. */
        VALID,
        /** Private text that is printed: generic or not. */
        TEXT,
        /** The tenant's report area, stop word, table of handles. */
        REPORT, STOP, HANDLES,
        /** High word of the window's base; its mask, or size; the opposite of the mask; the size's reciprocal. */
        BASE, EXTENT, OUTSIDE, RECIPROCAL,
        /** A high word below the mask; one of an address in the window; a number below the size in units. */
        PART, INSIDE, UNITS,
        /** A mask of lanes with the own one. */
        LANES,
        /** A handle that is the tenant's. */
        HANDLE
    }

    static final int MOST_ALIGN = 40;
    public static final Value BOTTOM = of(Kind.BOTTOM, 0, 0, 0);
    /** Every number of 64 bits. */
    public static final Value ANY = of(Kind.NUMBER, Long.MIN_VALUE, Long.MAX_VALUE, 0);
    private static final Value ANY32 = of(Kind.NUMBER, 0, 0xFFFF_FFFFL, 0);
    private static final Value ANY16 = of(Kind.NUMBER, 0, 0xFFFF, 0);
    private static final Value ANY8 = of(Kind.NUMBER, 0, 0xFF, 0);
    /** Numbers beyond it are not tracked. */
    private static final long FAR = 1L << 61;

    /** A value without a variable, of which nothing more is known. */
    public static Value of(Kind kind, long low, long high, int align) {
        return new Value(kind, null, low, high, align, 0, 0, null, false);
    }

    /** A value that counts from a variable, of which nothing more is known. */
    public static Value of(Kind kind, Symbol symbol, long low, long high, int align) {
        return new Value(kind, symbol, low, high, align, 0, 0, null, false);
    }

    /** Anything of a width. */
    public static Value any(int bits) {
        return bits == 32 ? ANY32 : bits == 16 ? ANY16 : bits > 32 || bits <= 0 ? ANY : bits == 8 ? ANY8 : number(0, (1L << bits) - 1, 0, bits);
    }

    /** A number from low to high, or anything where that is too far. */
    public static Value number(long low, long high, int align, int bits) {
        if (low > high || low < -FAR || high > FAR || bits < 64 && high - low >= 1L << bits) {
            return align == 0 ? any(bits) : any(bits).aligned(align);
        }
        return of(Kind.NUMBER, low, high, low == high ? tz(low) : Math.min(MOST_ALIGN, align));
    }

    /** Returns how many of a number's low bits are zero; for 0, the maximum. */
    public static int tz(long number) {
        return number == 0 ? MOST_ALIGN : Math.min(MOST_ALIGN, Long.numberOfTrailingZeros(number));
    }

    /** Returns whether it is of that kind. */
    public boolean is(Kind other) {
        return kind == other;
    }

    /** Returns whether it is a number, not an address. */
    public boolean isNumber() {
        return kind == Kind.NUMBER;
    }

    /** Returns whether its facts hold only under its predicate. */
    public boolean isConditional() {
        return condition != null && kind != Kind.VALID;
    }

    /** Returns whether it is a single number. */
    public boolean exact() {
        return kind == Kind.NUMBER && low == high;
    }

    /** Returns this value with at least this many low bits zero. */
    public Value aligned(int log2) {
        int most = Math.min(MOST_ALIGN, Math.max(align, log2));
        return most == align ? this : new Value(kind, symbol, low, high, most, certain, needs, condition, unless);
    }

    /** Returns the same place at another distance. */
    Value at(long from, long to, int log2) {
        if (from > to || from < -FAR || to > FAR) {
            return ANY;
        }
        return new Value(kind, symbol, from, to, log2, certain, needs, condition, unless);
    }

    /** Returns this value with another kind. */
    public Value as(Kind other) {
        return new Value(other, symbol, low, high, align, certain, needs, condition, unless);
    }

    Value with(long certainBytes, long neededBytes) {
        return new Value(kind, symbol, low, high, align, certainBytes, neededBytes, condition, unless);
    }

    Value where(Condition predicate, boolean not) {
        return new Value(kind, symbol, low, high, align, certain, needs, predicate, not);
    }

    /** Returns this value as an unsigned number of a width, whose interval does not wrap. */
    public Value unsigned(int bits) {
        if (!isNumber() || low >= 0 && (bits >= 64 || high < 1L << bits)) {
            return isNumber() ? this : any(bits);
        }
        if (bits >= 64) {
            return ANY;
        }
        long turn = 1L << bits;
        long by = Math.floorDiv(low, turn) * turn;
        return high - by < turn ? of(Kind.NUMBER, low - by, high - by, align) : any(bits).aligned(align);
    }

    /** Returns this value as a signed number of a width. */
    public Value signed(int bits) {
        if (!isNumber()) {
            return bits >= 64 ? ANY : of(Kind.NUMBER, -(1L << bits - 1), (1L << bits - 1) - 1, 0);
        }
        if (bits >= 64) {
            return this;
        }
        long half = 1L << bits - 1;
        long by = Math.floorDiv(low + half, 2 * half) * 2 * half;
        return high - by < half ? of(Kind.NUMBER, low - by, high - by, align) : of(Kind.NUMBER, -half, half - 1, align);
    }

    /** Returns the same place moved by a step at most this many times. */
    public Value moved(Value step, long times) {
        return at(low + Math.min(0, step.low * times), high + Math.max(0, step.high * times), Math.min(align, step.align));
    }

    /** Returns the facts that hold for both values. */
    public Value join(Value other, int bits) {
        if (kind == Kind.BOTTOM) {
            return other;
        }
        if (other.kind == Kind.BOTTOM || equals(other)) {
            return this;
        }
        int common = Math.min(align, other.align);
        if (kind != other.kind || symbol != other.symbol || condition != other.condition || unless != other.unless) {
            return isNumber() && other.isNumber() ? number(Math.min(low, other.low), Math.max(high, other.high), common, bits)
                    : isConditional() || other.isConditional() ? any(bits) : any(bits).aligned(common);
        }
        if (isNumber()) {
            return number(Math.min(low, other.low), Math.max(high, other.high), common, bits);
        }
        return new Value(kind, symbol, kind == Kind.VALID ? 0 : Math.min(low, other.low),
                kind == Kind.VALID ? Math.min(high, other.high) : Math.max(high, other.high), common,
                Math.min(certain, other.certain), Math.max(needs, other.needs), condition, unless);
    }
}
