package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.Comparison;
import io.tessera.software.arithmetic.NumberClass;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;

/** Comparison and selection. Stateless. */
public final class CompareOperations {
    private static final long HALF_ONE = 0x3C00;
    private static final long BRAIN_ONE = 0x3F80;
    private static final long SINGLE_ONE = 0x3F800000;

    private CompareOperations() {
    }

    /** @throws UnsupportedOperationException if an instruction's comparison is none that is known */
    public static void check(LoweredInstruction i) {
        comparison(i);
    }

    private static Comparison comparison(LoweredInstruction i) {
        Modifier word = i.firstOf(Modifier.EQ, Modifier.NE, Modifier.LT, Modifier.LE, Modifier.GT, Modifier.GE,
                Modifier.EQU, Modifier.NEU, Modifier.LTU, Modifier.LEU, Modifier.GTU, Modifier.GEU, Modifier.NUM,
                Modifier.NAN, Modifier.LO, Modifier.LS, Modifier.HI, Modifier.HS);
        return switch (word) {
            case null -> throw new UnsupportedOperationException(i.spelling());
            case LO -> Comparison.LT;
            case LS -> Comparison.LE;
            case HI -> Comparison.GT;
            case HS -> Comparison.GE;
            default -> Comparison.valueOf(word.name());
        };
    }

    private static boolean holds(LoweredInstruction i, ValueType type, long a, long b) {
        Comparison comparison = comparison(i);
        if (type.isFloat()) {
            boolean flush = i.has(Modifier.FTZ);
            return comparison.holds(FloatValues.of(type, a, flush), FloatValues.of(type, b, flush));
        }
        long first = IntegerValues.of(type, a);
        long second = IntegerValues.of(type, b);
        return type.isSigned() ? comparison.holdsSigned(first, second) : comparison.holdsUnsigned(first, second);
    }

    private static boolean combine(LoweredInstruction i, boolean relation, long[] a) {
        if (a.length < 3 || i.arguments().size() < 3) {
            return relation;
        }
        boolean other = a[2] != 0;
        Modifier operation = i.firstOf(Modifier.AND, Modifier.OR, Modifier.XOR);
        return switch (operation) {
            case null -> throw new UnsupportedOperationException(i.spelling());
            case AND -> relation & other;
            case OR -> relation | other;
            default -> relation ^ other;
        };
    }

    /** {@code setp}: its first result in bit 0, its second in bit 1. */
    public static int predicates(LoweredInstruction i, long[] a) {
        ValueType type = i.sourceType();
        boolean first;
        boolean second;
        if (type.isPacked()) {
            ValueType element = type.element();
            first = combine(i, holds(i, element, a[0] & 0xFFFF, a[1] & 0xFFFF), a);
            second = combine(i, holds(i, element, a[0] >>> 16, a[1] >>> 16), a);
        } else {
            boolean relation = holds(i, type, a[0], a[1]);
            first = combine(i, relation, a);
            second = combine(i, !relation, a);
        }
        return (first ? 1 : 0) | (second ? 2 : 0);
    }

    static long set(LoweredInstruction i, long[] a) {
        ValueType to = i.type();
        ValueType from = i.sourceType();
        if (from.isPacked()) {
            boolean low = combine(i, holds(i, from.element(), a[0] & 0xFFFF, a[1] & 0xFFFF), a);
            boolean high = combine(i, holds(i, from.element(), a[0] >>> 16 & 0xFFFF, a[1] >>> 16 & 0xFFFF), a);
            long one = to.isFloat() ? one(to.element()) : 0xFFFF;
            return (low ? one : 0) | (high ? one << 16 : 0);
        }
        boolean holds = combine(i, holds(i, from, a[0], a[1]), a);
        return !holds ? 0 : to.isFloat() ? one(to) : -1L >>> 64 - to.bits();
    }

    private static long one(ValueType type) {
        return switch (type) {
            case F16 -> HALF_ONE;
            case BF16 -> BRAIN_ONE;
            default -> SINGLE_ONE;
        };
    }

    /** {@code slct}: the first where the third is at least zero. */
    static long select(LoweredInstruction i, long[] a) {
        boolean first = i.sourceType() == ValueType.F32
                ? FloatValues.of(ValueType.F32, a[2], i.has(Modifier.FTZ)) >= 0 : (int) a[2] >= 0;
        return first ? a[0] : a[1];
    }

    static long test(LoweredInstruction i, long[] a) {
        Modifier word = i.firstOf(Modifier.FINITE, Modifier.INFINITE, Modifier.NUMBER, Modifier.NOTANUMBER,
                Modifier.NORMAL, Modifier.SUBNORMAL);
        if (word == null) {
            throw new UnsupportedOperationException(i.spelling());
        }
        NumberClass wanted = NumberClass.valueOf(word.name());
        boolean holds = i.type() == ValueType.F64 ? wanted.holds(Double.longBitsToDouble(a[0]))
                : wanted.holds(Float.intBitsToFloat((int) a[0]));
        return holds ? 1 : 0;
    }
}
