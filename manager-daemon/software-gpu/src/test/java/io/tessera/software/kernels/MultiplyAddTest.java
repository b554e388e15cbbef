package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.memory.RealMemory;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * All forms of dense {@code mma} against exact sums. Fragments are those of PTX ISA, "Matrix Fragments for mma": an element's lane,
 * register and place in it come from its row and column.
 */
@Timeout(300)
class MultiplyAddTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int N = 8;

    /** {@code m16n8k16}, types of D, A, B and C, and what stands around them. */
    private record Form(int m, int k, String d, String a, String b, String c, String before, String after) {
        static Form of(int m, int k, String d, String a, String b, String c) {
            return new Form(m, k, d, a, b, c, "", "");
        }

        int bits() {
            return width(a);
        }

        String text() {
            return "mma.sync.aligned.m" + m + "n8k" + k + ".row.col" + before + "." + d + "." + a + "." + b + "." + c + after;
        }

        int packed() {
            return a.equals("f64") ? 1 : 32 / bits();
        }
    }

    private static int width(String type) {
        return switch (type) {
            case "f64" -> 64;
            case "tf32", "f32", "s32" -> 32;
            case "f16", "bf16" -> 16;
            case "b1" -> 1;
            case "s4", "u4" -> 4;
            default -> 8;
        };
    }

    private static List<Form> forms() {
        List<Form> forms = new ArrayList<>();
        for (int k : new int[] {8, 16}) {
            forms.add(Form.of(16, k, "f32", "f16", "f16", "f32"));
            forms.add(Form.of(16, k, "f16", "f16", "f16", "f16"));
            forms.add(Form.of(16, k, "f32", "bf16", "bf16", "f32"));
            forms.add(Form.of(16, k / 2, "f32", "tf32", "tf32", "f32"));
        }
        forms.add(Form.of(8, 4, "f64", "f64", "f64", "f64"));
        for (int k : new int[] {4, 8, 16}) {
            forms.add(Form.of(16, k, "f64", "f64", "f64", "f64"));
        }
        for (String a : new String[] {"s", "u"}) {
            for (String b : new String[] {"s", "u"}) {
                for (String saturated : new String[] {"", ".satfinite"}) {
                    for (int size : new int[] {8, 4}) {
                        int k = 128 / size;
                        forms.add(new Form(8, k, "s32", a + size, b + size, "s32", saturated, ""));
                        forms.add(new Form(16, k, "s32", a + size, b + size, "s32", saturated, ""));
                        forms.add(new Form(16, 2 * k, "s32", a + size, b + size, "s32", saturated, ""));
                    }
                }
            }
        }
        for (String operation : new String[] {".xor.popc", ".and.popc"}) {
            forms.add(new Form(8, 128, "s32", "b1", "b1", "s32", "", operation));
            forms.add(new Form(16, 128, "s32", "b1", "b1", "s32", "", operation));
            forms.add(new Form(16, 256, "s32", "b1", "b1", "s32", "", operation));
        }
        forms.add(Form.of(16, 32, "f32", "e4m3", "e5m2", "f32"));
        forms.add(Form.of(16, 32, "f32", "e5m2", "e4m3", "f32"));
        return forms;
    }

    private static String registers(String prefix, int first, int count) {
        StringBuilder list = new StringBuilder("{");
        for (int i = 0; i < count; i++) {
            list.append(i == 0 ? "" : ", ").append(prefix).append(first + i);
        }
        return list.append("}").toString();
    }

    /** Registers of each lane come from one array of 8 bytes each, A, B and C; those of D go to another. */
    private static String kernel(Form form) {
        int a = form.m * form.k / 32 / form.packed();
        int b = form.k * N / 32 / form.packed();
        int c = registersOf(form, form.c);
        int d = registersOf(form, form.d);
        boolean wide = form.a.equals("f64");
        String prefix = wide ? "%f" : "%r";
        StringBuilder text = new StringBuilder(
                ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                        + ".reg .b32 %r<40>; .reg .f64 %f<40>; .reg .b64 %d<9>;\nld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r39, %tid.x;\n"
                        + "mul.wide.u32 %d3, %r39, 256; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n");
        for (int i = 0; i < a + b + c; i++) {
            text.append("ld.global.b").append(wide ? 64 : 32).append(' ').append(prefix).append(i).append(", [%d1+").append(8 * i).append("];\n");
        }
        text.append(form.text()).append(' ').append(registers(prefix, 30, d)).append(", ").append(registers(prefix, 0, a)).append(", ")
                .append(registers(prefix, a, b)).append(", ").append(registers(prefix, a + b, c)).append(";\n");
        for (int i = 0; i < d; i++) {
            text.append("st.global.b").append(wide ? 64 : 32).append(" [%d2+").append(8 * i).append("], ").append(prefix).append(30 + i)
                    .append(";\n");
        }
        return text.append("ret;\n}\n").toString();
    }

    private static int registersOf(Form form, String type) {
        return form.m * N / 32 / (type.equals("f16") ? 2 : 1);
    }

    /** Bits of a random element. */
    private static long draw(String type, Random random) {
        return switch (type) {
            case "f16" -> Float.floatToFloat16((float) random.nextGaussian()) & 0xFFFF;
            case "bf16" -> Float.floatToRawIntBits((float) random.nextGaussian()) >>> 16;
            case "f32", "tf32" -> Integer.toUnsignedLong(Float.floatToRawIntBits((float) random.nextGaussian()));
            case "f64" -> Double.doubleToRawLongBits(random.nextGaussian());
            // Near the end of the range, so that sums leave it.
            case "s32" -> Integer.toUnsignedLong(Integer.MAX_VALUE - random.nextInt(1000));
            // No NaN and no infinity.
            case "e4m3", "e5m2" -> random.nextInt(2) << 7 | random.nextInt(0x78);
            default -> random.nextInt(1 << width(type));
        };
    }

    /** Returns the exact value of an element. */
    private static BigDecimal value(String type, long bits) {
        double value = switch (type) {
            case "f16" -> Float.float16ToFloat((short) bits);
            case "bf16" -> Float.intBitsToFloat((int) bits << 16);
            case "tf32" -> Float.intBitsToFloat((int) bits & ~0x1FFF);
            case "f32" -> Float.intBitsToFloat((int) bits);
            case "f64" -> Double.longBitsToDouble(bits);
            case "s32" -> (int) bits;
            case "s8" -> (byte) bits;
            case "s4" -> (int) bits << 28 >> 28;
            // A byte of e5m2 is the upper one of a half; e4m3 has another bias and one bit less of exponent.
            case "e5m2" -> Float.float16ToFloat((short) (bits << 8));
            case "e4m3" -> Float.float16ToFloat((short) ((bits & 0x80) << 8 | (bits & 0x7F) << 7)) * 256;
            default -> bits;
        };
        return new BigDecimal(value);
    }

    private static void put(long base, int lane, int register, int shift, long bits) {
        long at = base + lane * 256L + register * 8L;
        RealMemory.putLong(at, RealMemory.getLong(at) | bits << shift);
    }

    @ParameterizedTest
    @EnumSource
    void everyForm(Kind kind) {
        Random random = new Random(SEED);
        for (Form form : forms()) {
            try (TestDevice device = TestDevice.ofText(kind, kernel(form))) {
                check(form, device, random);
            }
        }
    }

    private static void check(Form form, TestDevice device, Random random) {
        long in = device.zeros(32 * 64);
        long out = device.zeros(32 * 64);
        int e = form.packed();
        int halves = form.m / 8;
        int registersOfA = form.m * form.k / 32 / e;
        int registersOfB = form.k * N / 32 / e;
        long[][] a = new long[form.m][form.k];
        long[][] b = new long[form.k][N];
        long[][] c = new long[form.m][N];
        for (int i = 0; i < form.k; i++) {
            for (int row = 0; row < form.m; row++) {
                a[row][i] = draw(form.a, random);
                put(in, row % 8 * 4 + i % (4 * e) / e, row / 8 + halves * (i / (4 * e)), i % e * form.bits() % 64, a[row][i]);
            }
            for (int column = 0; column < N; column++) {
                b[i][column] = draw(form.b, random);
                put(in, column * 4 + i % (4 * e) / e, registersOfA + i / (4 * e), i % e * form.bits() % 64, b[i][column]);
            }
        }
        boolean pairs = form.c.equals("f16");
        for (int row = 0; row < form.m; row++) {
            for (int column = 0; column < N; column++) {
                c[row][column] = draw(form.c, random);
                put(in, row % 8 * 4 + column / 2, registersOfA + registersOfB + (pairs ? row / 8 : row / 8 * 2 + column % 2),
                        pairs ? column % 2 * 16 : 0, c[row][column]);
            }
        }
        device.launch("k", 1, 32, in, out);
        for (int row = 0; row < form.m; row++) {
            for (int column = 0; column < N; column++) {
                long at = out + (row % 8 * 4 + column / 2) * 256L;
                long found = pairs ? RealMemory.getLong(at + row / 8 * 8) >>> column % 2 * 16 & 0xFFFF
                        : RealMemory.getLong(at + (row / 8 * 2 + column % 2) * 8L);
                judge(form, a[row], b, c[row][column], column, found, form.text() + " row " + row + " column " + column + ", seed " + SEED);
            }
        }
    }

    private static void judge(Form form, long[] a, long[][] b, long c, int column, long found, String what) {
        BigDecimal sum = value(form.c, c);
        double fused = form.a.equals("f64") ? Double.longBitsToDouble(c) : 0;
        for (int i = 0; i < a.length; i++) {
            long left = a[i];
            long right = b[i][column];
            if (form.a.equals("b1")) {
                sum = sum.add(BigDecimal.valueOf(form.after.startsWith(".xor") ? left ^ right : left & right));
            } else if (form.a.equals("f64")) {
                fused = Math.fma(Double.longBitsToDouble(left), Double.longBitsToDouble(right), fused);
            } else {
                sum = sum.add(value(form.a, left).multiply(value(form.b, right)));
            }
        }
        switch (form.d) {
            case "f64" -> assertEquals(fused, Double.longBitsToDouble(found), what);
            case "f16" ->
                assertEquals(sum.floatValue(), Float.float16ToFloat((short) found), 0.51 * Math.max(halfUlp(sum.floatValue()), 0x1p-24), what);
            case "f32" -> assertEquals(sum.floatValue(), Float.intBitsToFloat((int) found), Math.ulp(sum.floatValue()), what);
            default -> assertEquals(form.before.isEmpty() ? sum.toBigInteger().intValue() : sum.min(BigDecimal.valueOf(Integer.MAX_VALUE))
                    .max(BigDecimal.valueOf(Integer.MIN_VALUE)).intValueExact(), (int) found, what);
        }
    }

    /** Distance of neighbours with 11 bits. */
    private static float halfUlp(float value) {
        return Math.ulp(value) * (1 << 13);
    }
}
