package io.tessera.software.arithmetic;

import java.util.SplittableRandom;

/** Operands for tests: boundaries, values near them, and random bits. Every source prints its seed where it fails. */
final class Operands {
    /** Seed of all tests of this package; fixed, so that a failure can be repeated. */
    static final long SEED = 0x7e55e7aL;

    private static final int[] FLOATS = {0, 1, 2, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000, 0x3f7fffff,
            0x3f800001, 0x40000000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x7e800000, 0x7f7fffff,
            0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x33800000, 0x34000000, 0x477ff000, 0x38800000};
    private static final long[] DOUBLES = {0, 1, 2, 0xfffffffffffffL, 0x10000000000000L, 0x3ff0000000000000L,
            0x3fefffffffffffffL, 0x3ff0000000000001L, 0x7fefffffffffffffL, 0x7ff0000000000000L, 0x7ff0000000000001L,
            0x7ff8000000000000L, 0x41dfffffffc00000L, 0x43e0000000000000L, 0x0370000000000000L, 0x5fe0000000000000L};
    private static final long[] INTEGERS = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff,
            0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000L, 0xffffffffL,
            0x100000000L, Long.MAX_VALUE, Long.MIN_VALUE, -1, -2};

    private final SplittableRandom random = new SplittableRandom(SEED);

    /** A float: often a boundary, often near another one in exponent. */
    float nextFloat() {
        int bits = switch (random.nextInt(4)) {
            case 0 -> FLOATS[random.nextInt(FLOATS.length)] ^ (random.nextBoolean() ? 0x80000000 : 0);
            case 1 -> 0x3f800000 + random.nextInt(-0x2000000, 0x2000000) ^ (random.nextBoolean() ? 0x80000000 : 0);
            case 2 -> random.nextInt(0x1000000) ^ (random.nextBoolean() ? 0x80000000 : 0);
            default -> random.nextInt();
        };
        return Float.intBitsToFloat(bits);
    }

    /** A double, likewise. */
    double nextDouble() {
        long sign = random.nextBoolean() ? Long.MIN_VALUE : 0;
        long bits = switch (random.nextInt(4)) {
            case 0 -> DOUBLES[random.nextInt(DOUBLES.length)] ^ sign;
            case 1 -> 0x3ff0000000000000L + random.nextLong(-0x200000000000000L, 0x200000000000000L) ^ sign;
            case 2 -> random.nextLong(0x40000000000000L) ^ sign;
            default -> random.nextLong();
        };
        return Double.longBitsToDouble(bits);
    }

    /** An integer: often a boundary of some width. */
    long nextLong() {
        return switch (random.nextInt(3)) {
            case 0 -> INTEGERS[random.nextInt(INTEGERS.length)];
            case 1 -> random.nextLong() >> random.nextInt(64);
            default -> random.nextLong();
        };
    }

    /** Its low half. */
    int nextInt() {
        return (int) nextLong();
    }

    /** A number below a bound. */
    int below(int bound) {
        return random.nextInt(bound);
    }
}
