package io.tessera.software.arithmetic;

/**
 * Relations of {@code set} and {@code setp}. The unordered forms hold if an operand is NaN; of the ordered ones only
 * {@code ne} could, and does not. The unsigned spellings lo, ls, hi, hs are LT, LE, GT, GE of unsigned operands.
 */
public enum Comparison {
    EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU,
    /** Both operands are numbers. */
    NUM,
    /** An operand is NaN. */
    NAN;

    /** Returns the relation of floats; narrower ones are widened first, which is exact. */
    public boolean holds(double a, double b) {
        boolean ordered = a == a && b == b;
        return switch (this) {
            case EQ -> a == b;
            case NE -> ordered && a != b;
            case LT -> a < b;
            case LE -> a <= b;
            case GT -> a > b;
            case GE -> a >= b;
            case EQU -> !ordered || a == b;
            case NEU -> a != b;
            case LTU -> !(a >= b);
            case LEU -> !(a > b);
            case GTU -> !(a <= b);
            case GEU -> !(a < b);
            case NUM -> ordered;
            case NAN -> !ordered;
        };
    }

    /** Returns the relation of signed integers. */
    public boolean holdsSigned(long a, long b) {
        return holdsOrder(Long.compare(a, b));
    }

    /** Returns the relation of unsigned integers. */
    public boolean holdsUnsigned(long a, long b) {
        return holdsOrder(Long.compareUnsigned(a, b));
    }

    private boolean holdsOrder(int order) {
        return switch (this) {
            case EQ, EQU -> order == 0;
            case NE, NEU -> order != 0;
            case LT, LTU -> order < 0;
            case LE, LEU -> order <= 0;
            case GT, GTU -> order > 0;
            case GE, GEU -> order >= 0;
            case NUM -> true;
            case NAN -> false;
        };
    }
}
