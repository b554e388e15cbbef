package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.BrainArithmetic;
import io.tessera.software.arithmetic.FloatConversions;
import io.tessera.software.arithmetic.HalfArithmetic;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.program.ValueType;

/** Reads raw bits of any float type as a double, which is exact. Stateless. */
final class FloatValues {
    private FloatValues() {
    }

    /** Returns the value; {@code flush} turns subnormal ones into zero. */
    static double of(ValueType type, long bits, boolean flush) {
        return switch (type) {
            case F64 -> Double.longBitsToDouble(bits);
            case F32, TF32 -> {
                float value = Float.intBitsToFloat((int) bits);
                yield flush ? SingleArithmetic.flush(value) : value;
            }
            case F16 -> FloatConversions.halfToSingle(flush ? HalfArithmetic.flush((int) bits) : (int) bits & 0xFFFF);
            case BF16 -> FloatConversions.brainToSingle(
                    flush ? BrainArithmetic.flush((int) bits) : (int) bits & 0xFFFF);
            default -> throw new UnsupportedOperationException("no single float: " + type);
        };
    }
}
