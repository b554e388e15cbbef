package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.arithmetic.BrainArithmetic;
import io.tessera.software.arithmetic.DoubleArithmetic;
import io.tessera.software.arithmetic.FloatConversions;
import io.tessera.software.arithmetic.HalfArithmetic;
import io.tessera.software.arithmetic.IntegerConversions;
import io.tessera.software.arithmetic.PackedArithmetic;
import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;

/** {@code cvt} and {@code cvt.pack}. Stateless. */
final class ConvertOperations {
    private ConvertOperations() {
    }

    static long convert(LoweredInstruction i, long[] a) {
        ValueType to = i.type();
        ValueType from = i.sourceType();
        if (to.isPacked() || from.isPacked()) {
            return pair(i, to, from, a);
        }
        if (!to.isFloat() && !from.isFloat()) {
            return IntegerConversions.toInteger(a[0], from.bits(), from.isSigned(), to.bits(), to.isSigned(),
                    i.has(Modifier.SAT));
        }
        if (!from.isFloat()) {
            return saturate(i, to, ofInteger(i, to, from, a[0]));
        }
        double value = FloatValues.of(from, a[0], from == ValueType.F32 && i.has(Modifier.FTZ));
        if (!to.isFloat()) {
            Rounding rounding = RoundingModes.toInteger(i);
            long integer = IntegerConversions.toInteger(value, rounding == null ? Rounding.TOWARD_ZERO : rounding,
                    to.bits(), to.isSigned(), from == ValueType.F64);
            return IntegerValues.of(to, integer);
        }
        return floatToFloat(i, to, value);
    }

    private static long ofInteger(LoweredInstruction i, ValueType to, ValueType from, long bits) {
        Rounding rounding = RoundingModes.ofFloat(i);
        long value = IntegerValues.of(from, bits);
        boolean signed = from.isSigned();
        return switch (to) {
            case F32 -> Integer.toUnsignedLong(Float.floatToRawIntBits(
                    signed ? IntegerConversions.singleOfSigned(value, rounding)
                            : IntegerConversions.singleOfUnsigned(value, rounding)));
            case F64 -> Double.doubleToRawLongBits(signed ? IntegerConversions.doubleOfSigned(value, rounding)
                    : IntegerConversions.doubleOfUnsigned(value, rounding));
            case F16 -> IntegerConversions.ofInteger(BinaryFormat.F16, value, signed, rounding);
            case BF16 -> IntegerConversions.ofInteger(BinaryFormat.BF16, value, signed, rounding);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static long floatToFloat(LoweredInstruction i, ValueType to, double source) {
        Rounding integral = RoundingModes.toInteger(i);
        double value = integral == null ? source : IntegerConversions.integral(source, integral);
        Rounding rounding = RoundingModes.ofFloat(i);
        boolean finite = i.has(Modifier.SATFINITE);
        long result = switch (to) {
            case F64 -> Double.doubleToRawLongBits(i.sourceType() == ValueType.F64 ? value
                    : FloatConversions.toDouble((float) value));
            case F32 -> {
                float single = FloatConversions.toSingle(value, rounding);
                yield Integer.toUnsignedLong(Float.floatToRawIntBits(
                        i.has(Modifier.FTZ) ? SingleArithmetic.flush(single) : single));
            }
            case F16 -> finite ? FloatConversions.toFinite(BinaryFormat.F16, (float) value, rounding)
                    : FloatConversions.doubleToHalf(value, rounding);
            case BF16 -> finite ? FloatConversions.toFinite(BinaryFormat.BF16, (float) value, rounding)
                    : FloatConversions.doubleToBrain(value, rounding);
            case TF32 -> tf32((float) value, rounding, finite);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
        return relu(i, to, saturate(i, to, result & -1L >>> 64 - to.bits()));
    }

    private static long tf32(float value, Rounding rounding, boolean finite) {
        int bits = FloatConversions.singleToTf32(value, rounding);
        if (finite && Float.isInfinite(Float.intBitsToFloat(bits))) {
            bits = (int) BinaryFormat.TF32.largestFinite() << 13 | bits & 0x80000000;
        }
        return Integer.toUnsignedLong(bits);
    }

    private static long saturate(LoweredInstruction i, ValueType type, long bits) {
        if (!i.has(Modifier.SAT)) {
            return bits;
        }
        return switch (type) {
            case F32 -> Integer.toUnsignedLong(Float.floatToRawIntBits(
                    SingleArithmetic.saturate(Float.intBitsToFloat((int) bits))));
            case F64 -> Double.doubleToRawLongBits(DoubleArithmetic.saturate(Double.longBitsToDouble(bits)));
            case F16 -> HalfArithmetic.saturate((int) bits);
            case BF16 -> BrainArithmetic.saturate((int) bits);
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static long relu(LoweredInstruction i, ValueType type, long bits) {
        if (!i.has(Modifier.RELU)) {
            return bits;
        }
        return switch (type) {
            case F16 -> HalfArithmetic.relu((int) bits);
            case BF16 -> BrainArithmetic.relu((int) bits);
            case F32, TF32 -> Integer.toUnsignedLong(Float.floatToRawIntBits(
                    SingleArithmetic.relu(Float.intBitsToFloat((int) bits))));
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    /** Converts two floats, or a pair, to a pair. The first operand goes to the upper half. */
    private static long pair(LoweredInstruction i, ValueType to, ValueType from, long[] a) {
        boolean bytes = to == ValueType.E4M3X2 || to == ValueType.E5M2X2;
        if (from == ValueType.E4M3X2 || from == ValueType.E5M2X2) {
            if (to != ValueType.F16X2) {
                throw new UnsupportedOperationException(i.spelling());
            }
            int halves = FloatConversions.bytePairToHalves(format(from), (int) a[0]);
            return Integer.toUnsignedLong(i.has(Modifier.RELU)
                    ? PackedArithmetic.map(HalfArithmetic::relu, halves) : halves);
        }
        ValueType element = from.element();
        boolean packed = from.isPacked();
        double high = FloatValues.of(element, packed ? a[0] >>> 16 & 0xFFFF : a[0], false);
        double low = FloatValues.of(element, packed ? a[0] & 0xFFFF : a[1], false);
        if (!bytes) {
            if (packed || element != ValueType.F32) {
                throw new UnsupportedOperationException(i.spelling());
            }
            return floatToFloat(i, to.element(), high) << 16 | floatToFloat(i, to.element(), low);
        }
        if (i.has(Modifier.RELU)) {
            high = SingleArithmetic.relu((float) high);
            low = SingleArithmetic.relu((float) low);
        }
        return FloatConversions.toBytePair(format(to), (float) high, (float) low) & 0xFFFF;
    }

    private static BinaryFormat format(ValueType type) {
        return type == ValueType.E4M3X2 ? BinaryFormat.E4M3 : BinaryFormat.E5M2;
    }

    /** {@code cvt.pack.sat}: two integers clamped side by side; bytes go below what the third operand brings. */
    static long pack(LoweredInstruction i, long[] a) {
        ValueType to = i.type();
        int bits = to.bits();
        if (bits != 8 && bits != 16 || i.types().get(1) != ValueType.S32) {
            throw new UnsupportedOperationException(i.spelling());
        }
        long high = clamp(to, (int) a[0]);
        long low = clamp(to, (int) a[1]);
        long pair = high << bits | low;
        return bits == 16 ? pair : (i.arguments().size() > 2 ? a[2] << 16 : 0) | pair;
    }

    private static long clamp(ValueType to, long value) {
        return to.isSigned() ? IntegerConversions.saturateSigned(value, to.bits())
                : IntegerConversions.saturateUnsigned(value, to.bits());
    }
}
