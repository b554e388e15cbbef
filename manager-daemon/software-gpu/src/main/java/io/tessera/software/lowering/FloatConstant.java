package io.tessera.software.lowering;

import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.arithmetic.FloatConversions;
import io.tessera.software.arithmetic.Rounding;

/** Narrows PTX's floating point constants, which are double precision, to the type that they initialise. */
final class FloatConstant {
    private FloatConstant() {
    }

    /**
     * Raw bits in the narrower type.
     *
     * @param doubleBits the constant
     * @param bits       width of the type
     * @param half       format of 16-bit types
     */
    static long narrow(long doubleBits, int bits, BinaryFormat half) {
        double value = Double.longBitsToDouble(doubleBits);
        return switch (bits) {
            case 64, 128 -> doubleBits;
            case 32 -> Integer.toUnsignedLong(Float.floatToRawIntBits((float) value));
            default -> half == BinaryFormat.BF16
                    ? FloatConversions.doubleToBrain(value, Rounding.NEAREST_EVEN) & 0xFFFFL
                    : FloatConversions.doubleToHalf(value, Rounding.NEAREST_EVEN) & 0xFFFFL;
        };
    }
}
