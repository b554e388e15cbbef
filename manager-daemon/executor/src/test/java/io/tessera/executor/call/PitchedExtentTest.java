package io.tessera.executor.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How far copies reach, against whole numbers without a bound and against the rows that a device would touch. */
class PitchedExtentTest {
    private static final long SEED = 20260717;
    private static final int SHAPES = 200_000;
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(48);
    private static final long[] EXTREMES = {0, 1, 2, 3, 63, 64, 65, 1L << 31, 1L << 32, 1L << 47, (1L << 48) - 1, 1L << 48,
            (1L << 48) + 1, 1L << 57, 1L << 58, 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, -4096, -64, -1};

    private static BigInteger whole(long number) {
        return new BigInteger(Long.toUnsignedString(number));
    }

    /** As the comment of the class states it; null: beyond all memory. Shape: x, y, z, pitch, rows, width, height, depth. */
    private static BigInteger reference(long... shape) {
        BigInteger[] n = new BigInteger[shape.length];
        for (int i = 0; i < n.length; i++) {
            n[i] = whole(shape[i]);
            if (n[i].compareTo(MOST) > 0) {
                return null;
            }
        }
        if (n[5].signum() == 0 || n[6].signum() == 0 || n[7].signum() == 0) {
            return BigInteger.ZERO;
        }
        BigInteger row = n[3].signum() == 0 ? n[0].add(n[5]) : n[3].max(n[5]);
        BigInteger rows = n[4].signum() == 0 ? n[1].add(n[6]) : n[4].max(n[6]);
        BigInteger last = n[2].add(n[7]).subtract(BigInteger.ONE).multiply(rows).add(n[1]).add(n[6])
                .subtract(BigInteger.ONE);
        BigInteger bytes = last.multiply(row).add(n[0]).add(n[5]);
        return bytes.compareTo(MOST) > 0 ? null : bytes;
    }

    private static long number(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> EXTREMES[random.nextInt(EXTREMES.length)];
            case 1 -> random.nextLong();
            case 2 -> random.nextLong() >>> random.nextInt(64);
            default -> random.nextInt(100);
        };
    }

    private static void check(long... s) throws RejectedException {
        BigInteger expected = reference(s);
        if (expected == null && touches(s)) {
            assertThrows(RejectedException.class, () -> PitchedExtent.bytes(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]));
            return;
        }
        try {
            long bytes = PitchedExtent.bytes(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
            assertEquals(expected, whole(bytes));
        } catch (RejectedException e) {
            assertTrue(expected == null || needless(s), e.getMessage());
        }
    }

    private static boolean touches(long... s) {
        return s[5] != 0 && s[6] != 0 && s[7] != 0;
    }

    /** A default pitch or height that is beyond all memory is refused although one row or plane alone does not need it. */
    private static boolean needless(long... s) {
        return s[3] == 0 && whole(s[0]).add(whole(s[5])).compareTo(MOST) > 0
                || s[4] == 0 && whole(s[1]).add(whole(s[6])).compareTo(MOST) > 0;
    }

    @Test
    void everyShapeReachesAsFarAsWholeNumbersSay() throws RejectedException {
        System.out.println("seed " + SEED);
        Random random = new Random(SEED);
        for (int i = 0; i < SHAPES; i++) {
            check(number(random), number(random), number(random), number(random), number(random), number(random),
                    number(random), number(random));
            int small = 1 + random.nextInt(1 << 12);
            check(random.nextInt(small), random.nextInt(small), random.nextInt(small), random.nextInt(small),
                    random.nextInt(small), random.nextInt(small), random.nextInt(small), random.nextInt(small));
        }
        for (long extreme : EXTREMES) {
            for (int place = 0; place < 8; place++) {
                long[] shape = {1, 1, 1, 64, 4, 64, 4, 2};
                shape[place] = extreme;
                check(shape);
            }
        }
    }

    @Test
    void noRowThatTheDeviceTouchesLiesOutside() throws RejectedException {
        Random random = new Random(SEED + 1);
        for (int i = 0; i < SHAPES / 10; i++) {
            long width = 1 + random.nextInt(100);
            long height = 1 + random.nextInt(5);
            long depth = 1 + random.nextInt(4);
            long x = random.nextInt(3) == 0 ? number(random) : random.nextInt(100);
            long y = random.nextInt(3) == 0 ? number(random) : random.nextInt(10);
            long z = random.nextInt(3) == 0 ? number(random) : random.nextInt(10);
            long pitch = random.nextBoolean() ? number(random) : random.nextInt(300);
            long rows = random.nextBoolean() ? number(random) : random.nextInt(10);
            long bytes;
            try {
                bytes = PitchedExtent.bytes(x, y, z, pitch, rows, width, height, depth);
            } catch (RejectedException e) {
                continue;
            }
            for (long plane = 0; plane < depth; plane++) {
                for (long row = 0; row < height; row++) {
                    // In the driver's own arithmetic, which forgets what 64 bits do not hold.
                    long at = ((z + plane) * rows + y + row) * pitch + x;
                    assertTrue(Long.compareUnsigned(at, bytes) < 0 && Long.compareUnsigned(at + width, bytes) <= 0,
                            () -> "row beyond " + bytes + " of pitch " + pitch);
                }
            }
        }
    }

    @Test
    void strideThatLeadsBelowTheBaseIsRefused() {
        for (long back : new long[] {-1, -64, -4096, -(1L << 33), -(1L << 46), Long.MIN_VALUE}) {
            assertThrows(RejectedException.class, () -> PitchedExtent.bytes(0, 1, 0, back, 0, 64, 4, 1));
            assertThrows(RejectedException.class, () -> PitchedExtent.bytes(0, 0, 0, back, 0, 64, 4, 1));
            assertThrows(RejectedException.class, () -> PitchedExtent.bytes(0, 0, 1, 64, back, 64, 2, 2));
            assertThrows(RejectedException.class, () -> AddressRule.rows(64, 4, back));
        }
    }
}
