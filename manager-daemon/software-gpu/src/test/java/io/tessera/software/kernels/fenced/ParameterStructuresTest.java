package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
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
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Structures among the parameters that a loop copies, as {@code nvcc -G} writes it: the counter is copied, counted, and compared in another type than it
 * is read in. Each is accepted in every mode, with proofs or without, and copies what was passed.
 */
@Timeout(300)
class ParameterStructuresTest {
    private static final int BYTES = 192;
    /** Type of an element, log2 of its bytes, first index, step, comparison, bound. */
    private static final List<String> FORMS = List.of("u8 0 0 1 lt.u32 192", "u16 1 0 1 lt.u32 96", "u32 2 0 1 lt.s32 48", "u64 3 0 1 lt.u32 24",
            "u64 3 0 1 le.u32 23",
            "u64 3 0 1 ne.s32 24", "u64 3 23 -1 gt.s32 -1", "u64 3 23 -1 ne.s32 -1", "v2.u64 4 0 1 lt.u32 12");
    private static final String HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";
    private static final String LOOP = """
            mov.b64 %d2, s;
            GENERIC
            mov.u32 %r4, FIRST;
            mov.pred %p1, 0;
            mov.u32 %r1, %r4;
            @%p1 bra done;
            bra.uni again;
            again:
            mov.u32 %r2, %r1;
            cvt.s64.s32 %d3, %r2;
            shl.b64 %d4, %d3, SHIFT;
            add.s64 %d5, %d2, %d4;
            LOAD.TYPE VALUE, [%d5];
            add.s64 %d6, TARGET, %d4;
            STORE.TYPE [%d6], VALUE;
            add.s32 %r3, %r2, STEP;
            setp.COMPARE %p2, %r3, LAST;
            mov.u32 %r1, %r3;
            @%p2 bra again;
            bra.uni done;
            done:
            """;
    private static final String REGISTERS = ".reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %d<9>;\n";
    private static final String KERNEL = HEAD + ".visible .entry k(.param .u64 o, .param .align 16 .b8 s[192])\n{\n" + REGISTERS
            + "ld.param.u64 %d1, [o];\n" + LOOP.replace("TARGET", "%d1").replace("STORE", "st.global") + "ret;\n}\n";
    /** A function reads its parameter so, and writes what it returns. */
    private static final String FUNCTION = HEAD + ".func (.param .align 16 .b8 t[192]) f(.param .align 16 .b8 s[192])\n{\n" + REGISTERS
            + "mov.b64 %d1, t;\n"
            + LOOP.replace("TARGET", "%d1").replace("STORE", "st.param") + "ret;\n}\n" + """
            .visible .entry k(.param .u64 o, .param .align 16 .b8 s[192])
            {
            .reg .b64 %d<4>;
            ld.param.u64 %d1, [o];
            .param .align 16 .b8 a[192]; .param .align 16 .b8 b[192];
            COPIES
            call (b), f, (a);
            RESULTS
            ret;
            }
            """.replace("COPIES", words("ld.param.u64 %%d2, [s+%1$d]; st.param.b64 [a+%1$d], %%d2;\n"))
                    .replace("RESULTS", words("ld.param.b64 %%d2, [b+%1$d]; st.global.u64 [%%d1+%1$d], %%d2;\n"));

    private static String words(String form) {
        StringBuilder all = new StringBuilder();
        for (int at = 0; at < BYTES; at += Long.BYTES) {
            all.append(form.formatted(at));
        }
        return all.toString();
    }

    /** Fenced as an executor has it done: what is not shown is fenced without proofs. */
    private static FencedModule verified(PtxModule module, FenceMode mode) throws Exception {
        PlainFunctions plain = PlainFunctions.none();
        while (true) {
            FencedModule fenced = new Fencer(mode).plainly(plain).fence(module);
            Verdict verdict = FenceVerifier.verify(fenced.ptx().getBytes(StandardCharsets.UTF_8), Mode.valueOf(mode.name()), false);
            if (verdict.whole()) {
                assertEquals(Map.of(), fenced.refused());
                assertTrue(verdict.accepted().contains("k"));
                return fenced;
            }
            assertTrue(!plain.all(), mode + ": " + verdict.rejected());
            plain = plain.with(verdict.unproven());
        }
    }

    private static void copies(SoftwareProcessor processor, FenceWindow window, String form, String text) throws Exception {
        LoadedKernel kernel = window.load(verified(PtxParser.parse(text), window.mode)).kernel("k");
        long out = window.allocate(BYTES);
        byte[] passed = new byte[2 * Long.BYTES + BYTES];
        for (int i = 0; i < BYTES; i++) {
            passed[2 * Long.BYTES + i] = (byte) (i * 37 + 11);
        }
        ByteBuffer.wrap(passed).order(ByteOrder.LITTLE_ENDIAN).putLong(0, out);
        processor.launch(kernel, new LaunchSpec(new Dim3(1, 1, 1), new Dim3(1, 1, 1), null, 0, passed, false), said -> {}, new GridControl());
        for (int i = 0; i < BYTES; i++) {
            assertEquals((byte) (i * 37 + 11), RealMemory.getByte(out + i), window.mode + ", " + form + ", byte " + i);
        }
        assertEquals(0, window.violations().size(), window.mode + ", " + form);
    }

    private static String written(String text, String[] form) {
        return text.replace("FIRST", form[2]).replace("STEP", form[3]).replace("COMPARE", form[4]).replace("LAST", form[5]).replace("SHIFT", form[1])
                .replace("TYPE", form[0]).replace("VALUE", switch (form[1]) {
                    case "0", "1" -> "%h1";
                    case "2" -> "%r5";
                    case "3" -> "%d7";
                    default -> "{%d7, %d8}";
                });
    }

    @ParameterizedTest
    @EnumSource
    void areCopied(FenceMode mode) throws Exception {
        try (SoftwareProcessor processor = new SoftwareProcessor(
                new ProcessorOptions(FenceWindow.MEMORY_BYTES, 1, DeviceLimits.of(1), new Interpreter(),
                        DeviceClock.system()))) {
            FenceWindow window = new FenceWindow(processor, mode);
            for (String form : FORMS) {
                String[] words = form.split(" ");
                for (String text : new String[] {KERNEL, FUNCTION}) {
                    copies(processor, window, form, written(text.replace("LOAD", "ld.param").replace("GENERIC", ""), words));
                }
                // Parameters that are __grid_constant__ are read by generic addresses.
                copies(processor, window, form, written(KERNEL.replace("LOAD", "ld").replace("GENERIC", "cvta.param.u64 %d2, %d2;"), words));
            }
        }
    }
}
