package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import java.math.BigInteger;
import java.util.Random;
import java.util.function.LongBinaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests video instructions on scalars, and selectors and masks of lanes, against PTX ISA's pseudo-code. */
@Timeout(180)
class VideoInstructionsTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int COUNT = 64;

    /** Result of an instruction for three words. */
    private interface Reference {
        int of(int a, int b, int c);
    }

    private static void check(Kind kind, String instruction, Reference reference) {
        String text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                + ".reg .b32 d, a, b, c, t; .reg .b64 p, q, o;\nld.param.u64 p, [in]; ld.param.u64 q, [out]; mov.u32 t, %tid.x;\n"
                + "mul.wide.u32 o, t, 12; add.u64 p, p, o; mul.wide.u32 o, t, 4; add.u64 q, q, o;\n"
                + "ld.global.u32 a, [p]; ld.global.u32 b, [p+4]; ld.global.u32 c, [p+8];\n" + instruction + "\nst.global.u32 [q], d; ret;\n}\n";
        Random random = new Random(SEED);
        int[] words = new int[3 * COUNT];
        for (int i = 0; i < words.length; i++) {
            // Small numbers and ends of ranges are frequent.
            words[i] = random.nextInt(4) == 0 ? random.nextInt(80) - 40 : random.nextInt(4) == 0 ? 0x7FFFFFFF + random.nextInt(4) : random.nextInt();
        }
        try (TestDevice device = TestDevice.ofText(kind, text)) {
            long out = device.zeros(COUNT);
            device.launch("k", 1, COUNT, device.ints(words), out);
            int[] found = device.ints(out, COUNT);
            for (int i = 0; i < COUNT; i++) {
                assertEquals(reference.of(words[3 * i], words[3 * i + 1], words[3 * i + 2]), found[i], instruction + " with "
                        + Integer.toHexString(words[3 * i]) + ", " + Integer.toHexString(words[3 * i + 1]) + ", "
                        + Integer.toHexString(words[3 * i + 2]) + ", seed " + SEED);
            }
        }
    }

    private static long unsigned(int word) {
        return word & 0xFFFFFFFFL;
    }

    private static long clamp(long value, long least, long most) {
        return value < least ? least : value > most ? most : value;
    }

    @ParameterizedTest
    @EnumSource
    void scalars(Kind kind) {
        String[] names = {"vadd", "vsub", "vabsdiff", "vmin", "vmax"};
        LongBinaryOperator[] operations = {(a, b) -> a + b, (a, b) -> a - b, (a, b) -> a < b ? b - a : a - b, (a, b) -> a < b ? a : b,
                (a, b) -> a < b ? b : a};
        for (int n = 0; n < names.length; n++) {
            LongBinaryOperator f = operations[n];
            check(kind, names[n] + ".s32.s32.s32 d, a, b;", (a, b, c) -> (int) f.applyAsLong(a, b));
            check(kind, names[n] + ".u32.u32.s32.sat d, a, b;", (a, b, c) -> (int) clamp(f.applyAsLong(unsigned(a), b), 0, 0xFFFFFFFFL));
            check(kind, names[n] + ".s32.u32.u32.sat d, a, b;",
                    (a, b, c) -> (int) clamp(f.applyAsLong(unsigned(a), unsigned(b)), -1L << 31, (1L << 31) - 1));
            check(kind, names[n] + ".s32.s32.s32.sat.add d, a.h1, b.b2, c;", (a, b, c) -> (int) f.applyAsLong(a >> 16, (byte) (b >> 16)) + c);
            check(kind, names[n] + ".s32.s32.u32.sat.min d, a.b0, b.h0, c;", (a, b, c) -> (int) Math.min(f.applyAsLong((byte) a, b & 0xFFFF), c));
            check(kind, names[n] + ".u32.u32.u32.sat d.b1, a.h0, b.b3, c;",
                    (a, b, c) -> c & 0xFFFF00FF | (int) clamp(f.applyAsLong(a & 0xFFFF, b >>> 24), 0, 255) << 8);
            check(kind, names[n] + ".s32.s32.s32 d.h1, a, b, c;", (a, b, c) -> c & 0xFFFF | (int) f.applyAsLong(a, b) << 16);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shiftsProductsAndComparisons(Kind kind) {
        check(kind, "vshr.u32.u32.u32.clamp.add d, a, b, c;", (a, b, c) -> (int) ((unsigned(b) > 31 ? 0 : unsigned(a) >>> b) + c));
        check(kind, "vshr.s32.s32.u32.wrap d, a, b;", (a, b, c) -> a >> (b & 31));
        check(kind, "vshr.s32.s32.u32.clamp d, a, 32;", (a, b, c) -> a >> 31);
        check(kind, "vshl.u32.u32.u32.clamp d, a, b.b0;", (a, b, c) -> (b & 0xFF) > 31 ? 0 : a << (b & 0xFF));
        check(kind, "vshl.s32.s32.u32.sat.clamp d, a.h0, b.b0;", (a, b, c) -> BigInteger.valueOf((short) a).shiftLeft(Math.min(b & 0xFF, 32))
                .max(BigInteger.valueOf(Integer.MIN_VALUE)).min(BigInteger.valueOf(Integer.MAX_VALUE)).intValue());
        check(kind, "vmad.s32.s32.s32 d, a.h0, -b.h1, c;", (a, b, c) -> -((short) a * (b >> 16)) + c);
        check(kind, "vmad.u32.u32.u32.sat.shr7 d, a, b, c;", (a, b, c) -> BigInteger.valueOf(unsigned(a)).multiply(BigInteger.valueOf(unsigned(b)))
                .add(BigInteger.valueOf(unsigned(c))).shiftRight(7).min(BigInteger.valueOf(0xFFFFFFFFL)).intValue());
        check(kind, "vmad.s32.u32.u32.shr15 d, a.h0, b.h0, -c;", (a, b, c) -> (int) ((long) (a & 0xFFFF) * (b & 0xFFFF) - c >> 15));
        check(kind, "vmad.u32.u32.u32.po d, a.h1, b.b1, c;", (a, b, c) -> (a >>> 16) * (b >>> 8 & 0xFF) + c + 1);
        check(kind, "vset.u32.s32.lt d, a, b;", (a, b, c) -> unsigned(a) < b ? 1 : 0);
        check(kind, "vset.s32.s32.ge.add d, a.b0, b.b3, c;", (a, b, c) -> ((byte) a >= b >> 24 ? 1 : 0) + c);
    }

    @ParameterizedTest
    @EnumSource
    void lanesThatAreSelected(Kind kind) {
        check(kind, "vadd2.u32.u32.u32 d.h1, a.h03, b.h21, c;", (a, b, c) -> c & 0xFFFF | (a & 0xFFFF) + (b & 0xFFFF) << 16);
        check(kind, "vsub4.s32.s32.s32.sat d.b20, a.b7654, b.b3210, c;", (a, b, c) -> c & 0xFF00FF00
                | (int) clamp((byte) b - (byte) a, -128, 127) & 0xFF | ((int) clamp((byte) (b >> 16) - (byte) (a >> 16), -128, 127) & 0xFF) << 16);
        check(kind, "vset4.u32.u32.gt.add d.b3, a, b, c;", (a, b, c) -> (a >>> 24 > b >>> 24 ? 1 : 0) + c);
        check(kind, "vset2.s32.s32.ne d, a, b, c;", (a, b, c) -> ((short) a != (short) b ? 1 : 0) | (a >> 16 != b >> 16 ? 1 << 16 : 0));
    }
}
