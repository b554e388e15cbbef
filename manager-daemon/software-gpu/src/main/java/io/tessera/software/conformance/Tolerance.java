package io.tessera.software.conformance;

import io.tessera.software.program.ValueType;

/**
 * Tolerated difference between a result and the expected one. Two NaNs are always equal: the PTX ISA leaves payloads open.
 *
 * @param kind  kind of the bound
 * @param bound the bound; unused by EXACT
 */
public record Tolerance(Kind kind, double bound) {
    /** Kinds of bounds. */
    public enum Kind {
        /** Bit for bit. */
        EXACT,
        /** Units in the last place of the expected result. */
        ULPS,
        /** Relative to the expected result. */
        RELATIVE,
        /** Absolute. */
        ABSOLUTE
    }

    /** Integers and IEEE operations. */
    public static final Tolerance EXACT = new Tolerance(Kind.EXACT, 0);

    static Tolerance ulps(double bound) {
        return new Tolerance(Kind.ULPS, bound);
    }

    static Tolerance relative(double bound) {
        return new Tolerance(Kind.RELATIVE, bound);
    }

    static Tolerance absolute(double bound) {
        return new Tolerance(Kind.ABSOLUTE, bound);
    }

    /** Returns whether a result of a type is close enough to the expected one; both as raw bits in the low end. */
    public boolean accepts(ValueType type, long expected, long actual) {
        if (expected == actual) {
            return true;
        }
        if (type.isPacked()) {
            return accepts(type.element(), expected & 0xFFFF, actual & 0xFFFF)
                    && accepts(type.element(), expected >>> 16 & 0xFFFF, actual >>> 16 & 0xFFFF);
        }
        if (!type.isFloat()) {
            return false;
        }
        double wanted = value(type, expected);
        double found = value(type, actual);
        if (wanted != wanted || found != found) {
            return wanted != wanted && found != found;
        }
        double error = Math.abs(wanted - found);
        return switch (kind) {
            case EXACT -> false;
            case ULPS -> error <= bound * ulp(type, wanted);
            case RELATIVE -> error <= bound * Math.abs(wanted);
            case ABSOLUTE -> error <= bound;
        };
    }

    private static double value(ValueType type, long bits) {
        return switch (type) {
            case F64 -> Double.longBitsToDouble(bits);
            case F16 -> Float.float16ToFloat((short) bits);
            case BF16 -> Float.intBitsToFloat((int) bits << 16);
            default -> Float.intBitsToFloat((int) bits);
        };
    }

    private static double ulp(ValueType type, double value) {
        int precision = switch (type) {
            case F64 -> 53;
            case F16 -> 11;
            case BF16 -> 8;
            default -> 24;
        };
        int smallest = switch (type) {
            case F64 -> Double.MIN_EXPONENT;
            case F16 -> -14;
            default -> Float.MIN_EXPONENT;
        };
        return Math.scalb(1.0, Math.max(Math.getExponent(value), smallest) - precision + 1);
    }
}
