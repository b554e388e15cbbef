package io.tessera.software.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every form of {@link InstructionForms}, interpreted and compiled, on the same operands: results equal bit by bit. */
@Timeout(300)
class InstructionDifferentialTest {
    private static final long SEED = 20_240_917;
    private static final int THREADS = 256;
    private static final int FORMS_PER_KERNEL = 24;
    private static final long[] BOUNDARIES = {0, 1, -1, 2, 0x7fffffffL, 0x80000000L, 0xffffffffL, Long.MIN_VALUE,
            Long.MAX_VALUE, 0x7f800000L, 0xff800000L, 0x7fc00000L, 0x7f800001L, 0x00000001L, 0x80000001L, 0x3f800000L,
            0x4f000000L, 0x7ff0000000000000L, 0xfff8000000000000L, 0x7ff0000000000001L, 0x3ff0000000000000L, 0x7c00L,
            0x7e00L, 0x3c00L, 0x8000L, 0x7f80L, 0x3c003c00L, 31, 32, 63, 64, 255, 256};

    private static final Map<String, String> TYPES = new TreeMap<>(Map.of("r", "b32", "l", "b64", "h", "b16", "f",
            "f32", "d", "f64", "p", "pred"));

    private static String prologue() {
        StringBuilder text = new StringBuilder("""
                .version 8.6
                .target sm_90
                .address_size 64
                .visible .entry forms(.param .u64 in, .param .u64 out)
                {
                """);
        TYPES.forEach((letter, type) -> {
            for (String suffix : List.of("0", "1", "a", "b", "c")) {
                text.append(".reg .").append(type).append(" %").append(letter).append(suffix).append(";\n");
            }
        });
        text.append("""
                .reg .b64 %in, %out, %value;
                .reg .b32 %t;
                ld.param.u64 %in, [in];
                ld.param.u64 %out, [out];
                mov.u32 %t, %tid.x;
                mad.wide.u32 %in, %t, 24, %in;
                mad.wide.u32 %out, %t, 8, %out;
                """);
        int place = 0;
        for (String operand : List.of("a", "b", "c")) {
            text.append("ld.global.u64 %l").append(operand).append(", [%in+").append(8 * place++).append("];\n");
            text.append("cvt.u32.u64 %rX, %lX;\ncvt.u16.u64 %hX, %lX;\nmov.b32 %fX, %rX;\nmov.b64 %dX, %lX;\n"
                    .replace("X", operand));
            text.append("setp.lt.s64 %p").append(operand).append(", %l").append(operand).append(", 100;\n");
        }
        return text.toString();
    }

    /** Clears the results, runs the form, mixes every result register into one value, stores it. */
    private static String body(String form, int number) {
        StringBuilder text = new StringBuilder("""
                mov.b32 %r0, 0;
                mov.b64 %l0, 0;
                mov.b16 %h0, 0;
                mov.f32 %f0, 0f00000000;
                mov.f64 %d0, 0d0000000000000000;
                setp.ne.b32 %p0, %r0, %r0;
                setp.ne.b32 %p1, %r0, %r0;
                """);
        text.append(form).append(";\n");
        text.append("""
                cvt.u64.u32 %value, %r0;
                xor.b64 %value, %value, %l0;
                cvt.u64.u16 %lb1, %h0;
                xor.b64 %value, %value, %lb1;
                mov.b32 %rb1, %f0;
                cvt.u64.u32 %lb1, %rb1;
                xor.b64 %value, %value, %lb1;
                mov.b64 %lb1, %d0;
                xor.b64 %value, %value, %lb1;
                selp.b64 %lb1, 1, 0, %p0;
                xor.b64 %value, %value, %lb1;
                selp.b64 %lb1, 2, 0, %p1;
                xor.b64 %value, %value, %lb1;
                """.replace("%lb1", "%l1").replace("%rb1", "%r1"));
        text.append("st.global.u64 [%out+").append(8L * THREADS * number).append("], %value;\n");
        return text.toString();
    }

    private static String kernel(List<String> forms) {
        StringBuilder text = new StringBuilder(prologue());
        for (int i = 0; i < forms.size(); i++) {
            text.append(body(forms.get(i), i));
        }
        return text.append("ret;\n}\n").toString();
    }

    private static long[] run(SoftwareProcessor processor, String ptx, int forms) throws Exception {
        long in = processor.memory().allocate(24L * THREADS);
        long out = processor.memory().allocate(8L * THREADS * forms);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 3 * THREADS; i++) {
            RealMemory.putLong(in + 8L * i, switch (random.nextInt(4)) {
                case 0 -> BOUNDARIES[random.nextInt(BOUNDARIES.length)];
                case 1 -> random.nextLong() >> random.nextInt(64);
                case 2 -> Integer.toUnsignedLong(Float.floatToRawIntBits((float) random.nextDouble(-300, 300)));
                default -> random.nextLong();
            });
        }
        LoadedKernel kernel = processor.load(ptx).kernel("forms");
        byte[] parameters = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(in).putLong(out).array();
        processor.launch(kernel, LaunchSpec.of(new Dim3(1, 1, 1), new Dim3(THREADS, 1, 1), 0, parameters), text -> {}, new GridControl());
        long[] results = new long[THREADS * forms];
        for (int i = 0; i < results.length; i++) {
            results[i] = RealMemory.getLong(out + 8L * i);
        }
        processor.memory().free(in);
        processor.memory().free(out);
        return results;
    }

    private static SoftwareProcessor processor(KernelTranslator translator) {
        return new SoftwareProcessor(new ProcessorOptions(16L << 20, 0, DeviceLimits.of(1), translator,
                DeviceClock.system()));
    }

    @Test
    void compiledIsInterpreted() throws Exception {
        Interpreter interpreter = new Interpreter();
        KernelCompiler compiler = new KernelCompiler(interpreter, System::nanoTime);
        List<String> forms = InstructionForms.all();
        List<String> wrong = new ArrayList<>();
        try (SoftwareProcessor interpreted = processor(interpreter); SoftwareProcessor compiled = processor(compiler)) {
            for (int first = 0; first < forms.size(); first += FORMS_PER_KERNEL) {
                List<String> some = forms.subList(first, Math.min(first + FORMS_PER_KERNEL, forms.size()));
                String ptx = kernel(some);
                long[] expected = run(interpreted, ptx, some.size());
                long[] actual = run(compiled, ptx, some.size());
                for (int i = 0; i < some.size(); i++) {
                    for (int thread = 0; thread < THREADS; thread++) {
                        long e = expected[i * THREADS + thread];
                        long a = actual[i * THREADS + thread];
                        if (e != a) {
                            wrong.add(some.get(i) + ", thread " + thread + ": interpreted " + Long.toHexString(e)
                                    + ", compiled " + Long.toHexString(a));
                            break;
                        }
                    }
                }
            }
        }
        assertTrue(forms.size() > 500, "only " + forms.size() + " forms");
        assertEquals(List.of(), wrong, "seed " + SEED);
        assertEquals(Map.of(), compiler.counters().interpretedByReason(), "forms that the compiler leaves");
    }
}
