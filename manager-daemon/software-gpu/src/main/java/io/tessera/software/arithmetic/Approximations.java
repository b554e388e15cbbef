package io.tessera.software.arithmetic;

/**
 * The approximate functions of {@code .f32}, more exact than the PTX ISA requires: computed in double and rounded once. The results differ from the hardware's
 * by no more than both documented errors together. Subnormal operands and results are kept; {@code .ftz} is {@link SingleArithmetic#flush} before and after.
 */
public final class Approximations {
    private static final double LN_2 = Math.log(2);
    private static final float DIVISOR_LIMIT = 0x1p126f;
    private static final long HIGH_WORD = 0xffffffff00000000L;

    private Approximations() {
    }

    /** {@code rcp.approx.f32}. */
    public static float rcp(float a) {
        return SingleArithmetic.rcp(a);
    }

    /** {@code sqrt.approx.f32}. */
    public static float sqrt(float a) {
        return SingleArithmetic.sqrt(a);
    }

    /** {@code rsqrt.approx.f32}: of -0 minus infinity, of negative numbers NaN. */
    public static float rsqrt(float a) {
        return SingleArithmetic.canonical((float) (1 / Math.sqrt(a)));
    }

    /** {@code div.full.f32}. */
    public static float divFull(float a, float b) {
        return SingleArithmetic.div(a, b);
    }

    /** {@code div.approx.f32}: a divisor above 2^126 gives zero, or NaN if the dividend is infinite. */
    public static float divApprox(float a, float b) {
        float magnitude = Math.abs(b);
        if (magnitude > DIVISOR_LIMIT && magnitude <= Float.MAX_VALUE) {
            if (Math.abs(a) <= Float.MAX_VALUE) {
                return SingleArithmetic.xorSign(0, a, b);
            }
            return SingleArithmetic.NAN;
        }
        return SingleArithmetic.div(a, b);
    }

    /** {@code sin.approx.f32}. */
    public static float sin(float a) {
        return SingleArithmetic.canonical((float) Math.sin(a));
    }

    /** {@code cos.approx.f32}. */
    public static float cos(float a) {
        return SingleArithmetic.canonical((float) Math.cos(a));
    }

    /** {@code lg2.approx.f32}: of zeros minus infinity, of negative numbers NaN. */
    public static float lg2(float a) {
        return SingleArithmetic.canonical((float) (Math.log(a) / LN_2));
    }

    /** {@code ex2.approx.f32}. */
    public static float ex2(float a) {
        return SingleArithmetic.canonical((float) Math.exp(a * LN_2));
    }

    /** {@code tanh.approx.f32}. */
    public static float tanh(float a) {
        return SingleArithmetic.canonical((float) Math.tanh(a));
    }

    /** {@code ex2.approx.f16}. */
    public static int ex2Half(int a) {
        return HalfArithmetic.ofSingle(ex2(HalfArithmetic.toSingle(a)));
    }

    /** {@code tanh.approx.f16}. */
    public static int tanhHalf(int a) {
        return HalfArithmetic.ofSingle(tanh(HalfArithmetic.toSingle(a)));
    }

    /** {@code ex2.approx.ftz.bf16}. */
    public static int ex2Brain(int a) {
        float operand = BrainArithmetic.toSingle(BrainArithmetic.flush(a));
        return BrainArithmetic.flush(BrainArithmetic.ofSingle(ex2(operand)));
    }

    /** {@code tanh.approx.bf16}. */
    public static int tanhBrain(int a) {
        return BrainArithmetic.ofSingle(tanh(BrainArithmetic.toSingle(a)));
    }

    /** {@code rcp.approx.ftz.f64}: only the upper 32 bits of operand and result count, the lower are zero. */
    public static double rcpDouble(double a) {
        return highWord(1 / flush(truncate(a)));
    }

    /** {@code rsqrt.approx.ftz.f64}: only the upper 32 bits of operand and result count, the lower are zero. */
    public static double rsqrtDouble(double a) {
        return highWord(1 / Math.sqrt(flush(truncate(a))));
    }

    /** {@code rsqrt.approx.f64}. */
    public static double rsqrtFull(double a) {
        double root = 1 / Math.sqrt(a);
        return root != root ? DoubleArithmetic.sqrt(a) : root;
    }

    /** A NaN with all its payload in the lower word becomes an infinity, as in hardware, which reads no lower word. */
    private static double truncate(double a) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(a) & HIGH_WORD);
    }

    private static double flush(double a) {
        return Math.abs(a) < Double.MIN_NORMAL ? Math.copySign(0, a) : a;
    }

    /** Rounds to 20 bits of fraction; a NaN becomes the canonical one. */
    private static double highWord(double value) {
        if (value != value) {
            return Double.longBitsToDouble(0x7fffffff00000000L);
        }
        double flushed = flush(value);
        long bits = Double.doubleToRawLongBits(flushed);
        return Double.longBitsToDouble(Double.isInfinite(flushed) ? bits : bits + 0x7fffffffL & HIGH_WORD);
    }
}
