package io.tessera.guardian.verify.value;

import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Value.Kind;

/** Values where something is known of them in addition. Stateless. */
public final class ValueRefinement {
    private static final int BIT = 1;
    private static final int HIGH = 2;

    private ValueRefinement() {
    }

    /** The value, where the fact holds in addition. */
    public static Value of(Value value, Fact fact, int bits) {
        if (value.is(Kind.BOTTOM)) {
            return value;
        }
        if (fact.condition() == null) {
            // A value that is known only where a predicate holds says nothing of the rest: there the fact alone does.
            boolean anywhere = value.condition() != null && (fact.kind() == Fact.Kind.INSIDE || fact.kind() == Fact.Kind.ALIGNED);
            return holds(anywhere ? Value.any(bits) : value, fact, bits);
        }
        boolean same = value.condition() == fact.condition() && value.unless() == fact.negated();
        if (fact.compares() || fact.second() != null || value.condition() != null && !same) {
            return value;
        }
        Value where = holds(value, fact, bits);
        // A number is a number everywhere: what divides it in some places only would go into sums and halves of it without its condition.
        return where.isNumber() ? value : where.where(fact.condition(), fact.negated());
    }

    private static Value holds(Value value, Fact fact, int bits) {
        return switch (fact.kind()) {
            case INSIDE -> value.isNumber() || value.is(Kind.WINDOW) && value.condition() == null && (value.low() != 0 || value.high() != 0)
                    ? Value.of(Kind.WINDOW, 0, 0, value.align()).where(value.condition(), value.unless()) : value;
            case ALIGNED -> value.aligned(fact.align());
            case HANDLE -> handle(value, BIT);
            case LOW -> handle(value, HIGH);
            case SUM -> value.isNumber() ? summed(value, fact, bits) : value;
            case COMPARE -> value.isNumber() ? compared(value, fact, bits) : value.is(Kind.HANDLES) && isNotZero(fact) ? value.with(1, 0) : value;
        };
    }

    private static boolean isNotZero(Fact fact) {
        return fact.compare().equals("ne") && fact.bits() == Long.SIZE && fact.other().value.exact() && fact.other().value.low() == 0;
    }

    private static Value handle(Value value, int flag) {
        boolean known = value.is(Kind.HANDLE);
        return known || value.isNumber() ? Value.of(Kind.HANDLE, known ? value.low() | flag : flag, 0, 0).where(value.condition(), value.unless())
                : value;
    }

    /** Returns whether a handle was fully looked up. */
    public static boolean isHandle(Value value) {
        return value.is(Kind.HANDLE) && value.low() == (BIT | HIGH);
    }

    /** A summand's remaining values are those of the sum, less the amount: both are numbers modulo the width. */
    private static Value summed(Value value, Fact fact, int bits) {
        Value amount = Value.number(fact.amount(), fact.amount(), 0, bits);
        Value sum = Arithmetic.add(value, amount, bits);
        Value left = compared(sum, fact, bits);
        Value summand = left.equals(sum) ? value : Arithmetic.sub(left, amount, bits);
        return summand.high() - summand.low() < value.high() - value.low() ? summand.aligned(value.align()) : value;
    }

    private static Value compared(Value value, Fact fact, int bits) {
        if (!fact.other().value.isNumber() || fact.bits() != bits) {
            return value;
        }
        Value mine = fact.signed() ? value.signed(bits) : value.unsigned(bits);
        Value other = fact.signed() ? fact.other().value.signed(bits) : fact.other().value.unsigned(bits);
        boolean wild = !fact.signed() && other.low() < 0;
        long least = fact.signed() ? Long.MIN_VALUE : 0;
        long low = !fact.signed() && mine.low() < 0 ? 0 : mine.low();
        long high = mine.high();
        switch (fact.compare()) {
            case "lt" -> high = wild ? high : Math.min(high, other.high() == least ? high : other.high() - 1);
            case "le" -> high = wild ? high : Math.min(high, other.high());
            case "gt" -> low = wild ? low : Math.max(low, other.low() == Long.MAX_VALUE ? low : other.low() + 1);
            case "ge" -> low = wild ? low : Math.max(low, other.low());
            case "eq" -> {
                low = wild ? low : Math.max(low, other.low());
                high = wild ? high : Math.min(high, other.high());
            }
            default -> {
                low = other.exact() && low == other.low() ? low + 1 : low;
                high = other.exact() && high == other.high() ? high - 1 : high;
            }
        }
        boolean wildMine = !fact.signed() && mine.low() < 0 && high == Long.MAX_VALUE;
        return low > high || wildMine ? value : Value.number(low, high, value.align(), bits);
    }
}
