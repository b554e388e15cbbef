package io.tessera.guardian.fence.proof.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Every operation on a register of six bits: whatever the operands may hold, the result may hold what comes out. */
class AbstractValueTest {
    private static final int BITS = 6;
    private static final long SIZE = 1L << BITS;

    @Provide
    Arbitrary<AbstractValue> value() {
        Arbitrary<Long> bound = Arbitraries.longs().between(-2 * SIZE, 2 * SIZE);
        return Combinators.combine(bound, Arbitraries.longs().between(0, 40), Arbitraries.integers().between(0, 4),
                Arbitraries.integers().between(0, 9)).as((low, length, zeros, kind) -> {
                    long unit = 1L << zeros;
                    return kind == 0 ? AbstractValue.multiple(zeros) : AbstractValue.of(null, false,
                            Math.floorDiv(low, unit) * unit, (Math.floorDiv(low, unit) + length) * unit, zeros).in(BITS);
                });
    }

    /** Returns whether a register may hold these bits. */
    private static boolean holds(AbstractValue value, long bits) {
        long register = bits & SIZE - 1;
        if ((register & (1L << Math.min(BITS, value.zeros())) - 1) != 0) {
            return false;
        }
        return !value.bounded() || value.high() - value.low() >= SIZE - 1
                || (register - value.low() & SIZE - 1) <= value.high() - value.low();
    }

    private static void binary(String what, AbstractValue a, AbstractValue b, AbstractValue result, LongBinaryOperator exact) {
        for (long x = 0; x < SIZE; x++) {
            for (long y = 0; holds(a, x) && y < SIZE; y++) {
                if (holds(b, y)) {
                    assertTrue(holds(result, exact.applyAsLong(x, y)), a + " " + what + " " + b + " is not " + result
                            + ": " + x + ", " + y);
                }
            }
        }
    }

    private static void unary(String what, AbstractValue a, AbstractValue result, LongUnaryOperator exact) {
        for (long x = 0; x < SIZE; x++) {
            if (holds(a, x)) {
                assertTrue(holds(result, exact.applyAsLong(x)), what + " of " + a + " is not " + result + ": " + x);
            }
        }
    }

    private static long signed(long x) {
        return x << 64 - BITS >> 64 - BITS;
    }

    @Property(tries = 300)
    void sumsAndProducts(@ForAll("value") AbstractValue a, @ForAll("value") AbstractValue b) {
        binary("+", a, b, IntervalArithmetic.add(a, b), (x, y) -> x + y);
        binary("-", a, b, IntervalArithmetic.subtract(a, b), (x, y) -> x - y);
        binary("*", a, b, IntervalArithmetic.multiply(a, b), (x, y) -> x * y);
        binary("or", a, b, a.join(b), (x, y) -> x);
        binary("or", a, b, a.join(b), (x, y) -> y);
        unary("negation", a, IntervalArithmetic.negate(a), x -> -x);
    }

    @Property(tries = 300)
    void bits(@ForAll("value") AbstractValue a, @ForAll("value") AbstractValue b) {
        binary("&", a, b, IntervalArithmetic.and(a, b, BITS), (x, y) -> x & y);
        binary("|", a, b, IntervalArithmetic.merge(a, b, BITS, false), (x, y) -> x | y);
        binary("^", a, b, IntervalArithmetic.merge(a, b, BITS, true), (x, y) -> x ^ y);
        for (int by = 0; by < BITS; by++) {
            int shift = by;
            unary("<< " + by, a, IntervalArithmetic.shiftLeft(a, by), x -> x << shift);
            unary(">>> " + by, a, IntervalArithmetic.shiftRight(a.unsigned(BITS), by), x -> x >> shift);
            unary(">> " + by, a, IntervalArithmetic.shiftRight(a.signed(BITS), by), x -> signed(x) >> shift);
        }
    }

    @Property(tries = 300)
    void order(@ForAll("value") AbstractValue a, @ForAll("value") AbstractValue b) {
        binary("min", a, b, IntervalArithmetic.minimum(a.signed(BITS), b.signed(BITS)), (x, y) -> Math.min(signed(x), signed(y)));
        binary("max", a, b, IntervalArithmetic.maximum(a.unsigned(BITS), b.unsigned(BITS)), Math::max);
    }

    @Property(tries = 300)
    void numbersAreInTheirRange(@ForAll("value") AbstractValue a) {
        AbstractValue signed = a.signed(BITS);
        AbstractValue unsigned = a.unsigned(BITS);
        for (long x = 0; x < SIZE; x++) {
            if (holds(a, x)) {
                assertTrue(signed.low() <= signed(x) && signed(x) <= signed.high(), a + " as " + signed + ": " + x);
                assertTrue(unsigned.low() <= x && x <= unsigned.high(), a + " as " + unsigned + ": " + x);
            }
        }
    }

    private static boolean compare(String relation, long x, long y) {
        return switch (relation) {
            case "eq" -> x == y;
            case "ne" -> x != y;
            case "lt" -> x < y;
            case "le" -> x <= y;
            case "gt" -> x > y;
            default -> x >= y;
        };
    }

    @Property(tries = 500)
    void comparisonsKeepWhatFulfilsThem(@ForAll("value") AbstractValue a, @ForAll("value") AbstractValue b,
            @ForAll boolean signed) {
        for (String relation : new String[] {"eq", "ne", "lt", "le", "gt", "ge"}) {
            AbstractValue left = Refinement.apply(a, relation, b, signed, BITS);
            for (long x = 0; x < SIZE; x++) {
                for (long y = 0; holds(a, x) && y < SIZE; y++) {
                    if (holds(b, y) && compare(relation, signed ? signed(x) : x, signed ? signed(y) : y)) {
                        assertTrue(left != null && holds(left, x), a + " " + relation + " " + b + " is not " + left + ": "
                                + x + ", " + y);
                    }
                }
            }
        }
    }

    /** The longest that a loop can go on with these, or -1 if there is no end. */
    private static long rounds(long first, long step, long other, String relation, boolean signed) {
        long at = first;
        for (long rounds = 0; rounds <= 4 * SIZE; rounds++) {
            long x = signed ? signed(at) : at & SIZE - 1;
            if (!compare(relation, x, signed ? signed(other) : other & SIZE - 1)) {
                return rounds;
            }
            at += step;
        }
        return -1;
    }

    @Property(tries = 500)
    void loopsEndNoLaterThanIsSaid(@ForAll("value") AbstractValue first, @ForAll("value") AbstractValue other,
            @ForAll boolean signed) {
        for (String relation : new String[] {"ne", "lt", "le", "gt", "ge"}) {
            for (long step = -9; step <= 9; step++) {
                TripCount count = new TripCount(first, AbstractValue.constant(step), other, signed, BITS);
                long said = relation.equals("ne") ? count.untilEqual() : count.whileOrdered(relation);
                for (long x = 0; said != TripCount.UNBOUNDED && x < SIZE; x++) {
                    for (long y = 0; holds(first, x) && y < SIZE; y++) {
                        if (holds(other, y)) {
                            long real = rounds(x, step, y, relation, signed);
                            assertTrue(real >= 0 && real <= said, first + " " + relation + " " + other + " by " + step
                                    + (signed ? " signed" : "") + ": " + x + ", " + y + " goes " + real + ", said " + said);
                        }
                    }
                }
            }
        }
    }

    @Test
    void largeNumbersAreGivenUp() {
        AbstractValue large = AbstractValue.between(0, AbstractValue.LARGEST);
        assertEquals(AbstractValue.multiple(0), IntervalArithmetic.add(large, large));
        assertEquals(AbstractValue.multiple(4), IntervalArithmetic.multiply(large, AbstractValue.constant(16)));
        assertEquals(AbstractValue.multiple(3), IntervalArithmetic.shiftLeft(AbstractValue.TOP, 3));
    }
}
