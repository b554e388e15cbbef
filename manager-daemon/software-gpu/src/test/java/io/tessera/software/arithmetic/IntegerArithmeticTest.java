package io.tessera.software.arithmetic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigInteger;
import org.junit.jupiter.api.Test;

/** Integer arithmetic against unbounded integers, cut to the width as the PTX ISA says. */
class IntegerArithmeticTest {
    private static final int CASES = 20000;

    private final Operands operands = new Operands();

    private static BigInteger value(long bits, int width, boolean signed) {
        BigInteger value = BigInteger.valueOf(signed ? bits << 64 - width >> 64 - width : bits << 64 - width >>> 64
                - width);
        return !signed && width == 64 && bits < 0 ? value.add(BigInteger.ONE.shiftLeft(64)) : value;
    }

    private static BigInteger s(long bits, int width) {
        return value(bits, width, true);
    }

    private static BigInteger u(long bits, int width) {
        return value(bits, width, false);
    }

    private static int clamp(BigInteger value) {
        return value.max(BigInteger.valueOf(Integer.MIN_VALUE)).min(BigInteger.valueOf(Integer.MAX_VALUE)).intValue();
    }

    @Test
    void productsAndSums() {
        for (int i = 0; i < CASES; i++) {
            int a = operands.nextInt();
            int b = operands.nextInt();
            int c = operands.nextInt();
            String what = a + " " + b + " " + c;
            assertEquals(clamp(s(a, 32).add(s(b, 32))), IntegerArithmetic.addSat(a, b), what);
            assertEquals(clamp(s(a, 32).subtract(s(b, 32))), IntegerArithmetic.subSat(a, b), what);
            assertEquals(s(a, 32).multiply(s(b, 32)).shiftRight(32).intValue(), IntegerArithmetic.mulHiS32(a, b));
            assertEquals(u(a, 32).multiply(u(b, 32)).shiftRight(32).intValue(), IntegerArithmetic.mulHiU32(a, b));
            assertEquals(u(a, 32).multiply(u(b, 32)).longValue(), IntegerArithmetic.mulWideU32(a, b), what);
            assertEquals(s(a, 16).multiply(s(b, 16)).shiftRight(16).intValue() & 0xffff,
                    IntegerArithmetic.mulHiS16(a, b), what);
            assertEquals(u(a, 16).multiply(u(b, 16)).shiftRight(16).intValue(), IntegerArithmetic.mulHiU16(a, b));
            assertEquals(clamp(s(a, 32).multiply(s(b, 32)).shiftRight(32).add(s(c, 32))),
                    IntegerArithmetic.madHiSat(a, b, c), what);
            BigInteger signed24 = s(a, 24).multiply(s(b, 24));
            BigInteger unsigned24 = u(a, 24).multiply(u(b, 24));
            assertEquals(signed24.intValue(), IntegerArithmetic.mul24LoS32(a, b), what);
            assertEquals(signed24.shiftRight(16).intValue(), IntegerArithmetic.mul24HiS32(a, b), what);
            assertEquals(unsigned24.intValue(), IntegerArithmetic.mul24LoU32(a, b), what);
            assertEquals(unsigned24.shiftRight(16).intValue(), IntegerArithmetic.mul24HiU32(a, b), what);
            assertEquals(clamp(signed24.shiftRight(16).add(s(c, 32))), IntegerArithmetic.mad24HiSat(a, b, c), what);
            assertEquals(s(a, 32).subtract(s(b, 32)).abs().add(s(c, 32)).intValue(),
                    IntegerArithmetic.sadS32(a, b, c), what);
            assertEquals(u(a, 32).subtract(u(b, 32)).abs().add(u(c, 32)).intValue(),
                    IntegerArithmetic.sadU32(a, b, c), what);
            assertEquals(s(a, 16).subtract(s(b, 16)).abs().add(s(c, 16)).intValue() & 0xffff,
                    IntegerArithmetic.sadS16(a, b, c), what);
        }
    }

    @Test
    void divisions() {
        for (int i = 0; i < CASES; i++) {
            long a = operands.nextLong();
            long b = operands.nextLong();
            String what = a + " " + b;
            if ((int) b != 0) {
                assertEquals(s(a, 32).divide(s(b, 32)).intValue(), IntegerArithmetic.divS32((int) a, (int) b), what);
                assertEquals(u(a, 32).divide(u(b, 32)).intValue(), IntegerArithmetic.divU32((int) a, (int) b), what);
                assertEquals(s(a, 32).remainder(s(b, 32)).intValue(), IntegerArithmetic.remS32((int) a, (int) b));
                assertEquals(u(a, 32).remainder(u(b, 32)).intValue(), IntegerArithmetic.remU32((int) a, (int) b));
            }
            if ((short) b != 0) {
                assertEquals(s(a, 16).divide(s(b, 16)).intValue() & 0xffff,
                        IntegerArithmetic.divS16((int) a, (int) b), what);
                assertEquals(u(a, 16).remainder(u(b, 16)).intValue(), IntegerArithmetic.remU16((int) a, (int) b));
            }
            if (b != 0) {
                assertEquals(s(a, 64).divide(s(b, 64)).longValue(), IntegerArithmetic.divS64(a, b), what);
                assertEquals(u(a, 64).divide(u(b, 64)).longValue(), IntegerArithmetic.divU64(a, b), what);
                assertEquals(u(a, 64).remainder(u(b, 64)).longValue(), IntegerArithmetic.remU64(a, b), what);
            }
        }
        assertEquals(-1, IntegerArithmetic.divS32(5, 0));
        assertEquals(-1, IntegerArithmetic.divU32(5, 0));
        assertEquals(-1, IntegerArithmetic.remU64(5, 0));
        assertEquals(0xffff, IntegerArithmetic.divU16(5, 0x10000));
        assertEquals(Integer.MIN_VALUE, IntegerArithmetic.divS32(Integer.MIN_VALUE, -1));
        assertEquals(0, IntegerArithmetic.remS64(Long.MIN_VALUE, -1));
    }

    @Test
    void carries() {
        for (int i = 0; i < CASES; i++) {
            long a = operands.nextLong();
            long b = operands.nextLong();
            int c = operands.below(2);
            BigInteger carry = BigInteger.valueOf(c);
            String what = a + " " + b + " " + c;
            assertEquals(u(a, 32).add(u(b, 32)).add(carry).shiftRight(32).intValue(),
                    CarryArithmetic.carryOfSum((int) a, (int) b, c), what);
            assertEquals(u(a, 64).add(u(b, 64)).add(carry).shiftRight(64).intValue(),
                    CarryArithmetic.carryOfSum(a, b, c), what);
            BigInteger borrow = BigInteger.ONE.subtract(carry);
            assertEquals(u(a, 32).subtract(u(b, 32)).subtract(borrow).signum() < 0 ? 0 : 1,
                    CarryArithmetic.carryOfSum((int) a, ~(int) b, c), what);
            assertEquals(u(a, 64).subtract(u(b, 64)).subtract(borrow).signum() < 0 ? 0 : 1,
                    CarryArithmetic.carryOfSum(a, ~b, c), what);
        }
    }

    @Test
    void extremes() {
        for (int i = 0; i < CASES; i++) {
            long a = operands.nextLong();
            long b = operands.nextLong();
            assertEquals(u(a, 32).min(u(b, 32)).intValue(), IntegerArithmetic.minU32((int) a, (int) b));
            assertEquals(u(a, 64).max(u(b, 64)).longValue(), IntegerArithmetic.maxU64(a, b));
            assertEquals(s(a, 16).min(s(b, 16)).intValue() & 0xffff, IntegerArithmetic.minS16((int) a, (int) b));
            assertEquals(u(a, 16).max(u(b, 16)).intValue(), IntegerArithmetic.maxU16((int) a, (int) b));
        }
    }

    @Test
    void dotProducts() {
        for (int i = 0; i < CASES; i++) {
            int a = operands.nextInt();
            int b = operands.nextInt();
            int c = operands.nextInt();
            for (int signs = 0; signs < 4; signs++) {
                boolean signedA = (signs & 1) != 0;
                boolean signedB = (signs & 2) != 0;
                BigInteger four = BigInteger.valueOf(c);
                BigInteger two = four;
                for (int k = 0; k < 4; k++) {
                    four = four.add(value(a >>> 8 * k, 8, signedA).multiply(value(b >>> 8 * k, 8, signedB)));
                }
                for (int k = 0; k < 2; k++) {
                    two = two.add(value(a >>> 16 * k, 16, signedA).multiply(value(b >>> 16 + 8 * k, 8, signedB)));
                }
                assertEquals(four.intValue(), DotProducts.dp4a(a, b, c, signedA, signedB));
                assertEquals(two.intValue(), DotProducts.dp2a(a, b, c, signedA, signedB, true));
            }
        }
    }
}
