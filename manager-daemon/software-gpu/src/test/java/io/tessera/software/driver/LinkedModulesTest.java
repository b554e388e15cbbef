package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Modules that are linked, by the rules of NVIDIA's linker. */
@Timeout(300)
class LinkedModulesTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final int DYNAMIC_BYTES = 64;
    /** Large enough that all of the device's memory is in one window. */
    private static final long WINDOW_BYTES = 1L << 40;
    private static final int ERROR_BUFFER = 5;
    private static final int ERROR_BUFFER_BYTES = 6;

    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    private static String returning(String linkage, String name, String value) {
        return linkage + " .func (.param .b32 r) " + name + "()\n{\n.reg .b32 %r<3>;\n" + value + "st.param.b32 [r], %r1;\nret;\n}\n";
    }

    private static String declared(String linkage, String name) {
        return linkage + " .func (.param .b32 r) " + name + "();\n";
    }

    /** A kernel that stores what functions return. */
    private static String kernel(String name, String... functions) {
        StringBuilder text = new StringBuilder(".visible .entry " + name + "(.param .u64 to)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                + "ld.param.u64 %rd1, [to];\ncvta.to.global.u64 %rd1, %rd1;\n");
        for (int i = 0; i < functions.length; i++) {
            text.append("{ .param .b32 q; call (q), ").append(functions[i]).append("; ld.param.b32 %r1, [q]; }\nst.global.u32 [%rd1+").append(4 * i)
                    .append("], %r1;\n");
        }
        return text + "ret;\n}\n";
    }

    private static String number(int value) {
        return "mov.u32 %r1, " + value + ";\n";
    }

    /** Links; gives the module, or the error's text in its place. */
    private Object linked(int wanted, String... texts) {
        MemorySegment state = port.arena.allocate(8, 8);
        MemorySegment log = port.arena.allocate(1000);
        MemorySegment options = port.arena.allocate(8, 8);
        options.setAtIndex(ValueLayout.JAVA_INT, 0, ERROR_BUFFER);
        options.setAtIndex(ValueLayout.JAVA_INT, 1, ERROR_BUFFER_BYTES);
        MemorySegment values = port.arena.allocate(16, 8);
        values.setAtIndex(ValueLayout.JAVA_LONG, 0, log.address());
        values.setAtIndex(ValueLayout.JAVA_LONG, 1, log.byteSize());
        port.ok(DriverEntry.cuLinkCreate_v2, 2, options, values, state);
        long linker = state.get(ValueLayout.JAVA_LONG, 0);
        int result = 0;
        for (String text : texts) {
            String whole = text.startsWith(".version") ? text : HEAD + text;
            result = result != 0 ? result : port.call(DriverEntry.cuLinkAddData_v2, linker, 1, whole, whole.length() + 1L, 0, 0, 0, 0);
        }
        MemorySegment image = port.arena.allocate(16, 8);
        result = result != 0 ? result : port.call(DriverEntry.cuLinkComplete, linker, image, image.address() + 8);
        assertEquals(wanted, result, log.getString(0));
        Object made = wanted != 0 ? log.getString(0) : (Object) port.made(DriverEntry.cuModuleLoadData, image.get(ValueLayout.JAVA_LONG, 0));
        port.ok(DriverEntry.cuLinkDestroy, linker);
        return made;
    }

    private int[] run(long module, String kernel, int count) {
        long data = port.alloc(64);
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, kernel), 1, 1, 0, data);
        return port.readInts(data, count);
    }

    private void refused(int result, String why, String... texts) {
        String said = (String) linked(result, texts);
        assertTrue(said.contains(why), said);
    }

    @Test
    void whatTwoTextsDoNotShowIsEachOnesOwn() {
        String one = ".global .u32 x = 1;\n" + returning("", "add", "ld.global.u32 %r1, [x];\n") + kernel("first", "add");
        String two = ".global .u32 x = 2;\n" + returning("", "add", "ld.global.u32 %r1, [x];\nadd.u32 %r1, %r1, 10;\n") + kernel("second", "add");
        long module = (long) linked(0, one, two);
        assertEquals(1, run(module, "first", 1)[0]);
        assertEquals(12, run(module, "second", 1)[0]);
    }

    @Test
    void aStrongDefinitionGoesBeforeWeakOnesAndTheFirstOfThoseBeforeOthers() {
        String one = returning(".weak", "f", number(1)) + returning(".weak", "g", number(2)) + kernel("k", "f", "g");
        long module = (long) linked(0, one, returning(".weak", "g", number(3)) + returning(".visible", "f", number(4)));
        int[] found = run(module, "k", 2);
        assertEquals(List.of(4, 2), List.of(found[0], found[1]));
    }

    @Test
    void variablesOfOthersAreFoundWhicheverComesFirst() {
        String needs = ".extern .global .u32 x;\n.extern .const .u32 c;\n" + returning(".visible", "f", "ld.global.u32 %r1, [x];\n")
                + returning(".visible", "g", "ld.const.u32 %r1, [c];\n") + kernel("k", "f", "g");
        String has = ".visible .global .u32 x = 7;\n.visible .const .u32 c = 8;\n.visible .global .u64 p = generic(x);\n";
        for (String[] order : new String[][] {{needs, has}, {has, needs}}) {
            int[] found = run((long) linked(0, order), "k", 2);
            assertEquals(List.of(7, 8), List.of(found[0], found[1]));
        }
    }

    @Test
    void aliasesAndCommonVariables() {
        String one = declared(".extern", "f") + ".common .global .u32 x;\n" + kernel("k", "f");
        String two = declared(".visible", "f") + returning("", "real", "ld.global.u32 %r1, [x+4];\nadd.u32 %r1, %r1, 5;\n") + ".alias f, real;\n";
        assertEquals(5, run((long) linked(0, one, ".common .global .u32 x[2];\n" + two), "k", 1)[0]);
    }

    @Test
    void whatDoesNotFitIsSaid() {
        String call = declared(".extern", "f") + kernel("k", "f");
        refused(CudaResult.INVALID_IMAGE, "undefined reference to 'f'", call);
        refused(CudaResult.INVALID_IMAGE, "undefined reference to 'x'",
                ".extern .global .u32 x;\n" + returning(".visible", "f", "ld.global.u32 %r1, [x];\n"),
                call);
        refused(CudaResult.INVALID_IMAGE, "multiple definition of 'f'", call, returning(".visible", "f", number(1)),
                returning(".visible", "f", number(2)));
        refused(CudaResult.INVALID_IMAGE, "Prototype doesn't match for 'f'", call, ".visible .func f(.param .b64 a)\n{\nret;\n}\n");
        refused(CudaResult.INVALID_IMAGE, "Size doesn't match for 's'", ".extern .shared .b8 s[64];\n" + kernel("k"),
                ".visible .shared .b8 s[16];\n");
        refused(CudaResult.INVALID_IMAGE, "Type doesn't match for 'f'", call, ".visible .global .u32 f;\n");
        refused(CudaResult.INVALID_PTX, "", "what is this");
        assertTrue((long) linked(0, declared(".extern", "f") + kernel("k")) != 0, "what nobody uses may be missing");
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO", "CHECK"})
    void fencedTextsCallEachOther(FenceMode mode) throws Exception {
        String dynamic = ".extern .shared .align 4 .b8 more[];\n";
        String one = dynamic + ".extern .global .u32 x;\n" + declared(".extern", "f") + declared(".extern", "g") + kernel("k", "f", "g", "h").replace(
                ".visible .entry", returning("", "h", "ld.global.u32 %r1, [x];\nadd.u32 %r1, %r1, 1;\n") + ".visible .entry");
        String two = dynamic + ".visible .global .u32 x = 40;\n.shared .align 4 .u32 own;\n"
                + returning(".visible", "f", "mov.u32 %r1, 5;\nst.shared.u32 [own], %r1;\nst.shared.u32 [more+8], %r1;\nld.shared.u32 %r1, [own];\n")
                + returning(".visible", "g", "ld.shared.u32 %r1, [more+8];\nld.global.u32 %r2, [x];\nadd.u32 %r1, %r1, %r2;\n");
        List<FencedModule> fenced = new ArrayList<>();
        for (String text : List.of(one, two)) {
            fenced.add(Fencer.withoutProofs(mode, true).fence(PtxParser.parse(HEAD + text)));
        }
        long module = (long) linked(0, fenced.get(0).ptx(), fenced.get(1).ptx());
        long data = port.alloc(64);
        long base = data & -WINDOW_BYTES;
        long report = port.alloc(ReportArea.BYTES);
        long stopWord = port.alloc(4);
        port.ok(DriverEntry.cuMemsetD32_v2, report, 0, (long) ReportArea.BYTES / 4);
        port.ok(DriverEntry.cuMemsetD32_v2, stopWord, WindowConstants.GO_ON, 1L);
        fill(module, WindowConstants.NAME, new WindowConstants(mode, base, WINDOW_BYTES, report, stopWord,
                port.alloc(WindowConstants.HANDLE_BITMAP_BYTES)).bytes());
        for (FencedModule each : fenced) {
            for (HoistedVariable variable : each.variables()) {
                if (variable.linkage() != Linkage.EXTERN) {
                    long address = port.alloc(variable.sizeBytes());
                    byte[] initial = Arrays.copyOf(variable.initial(), (int) variable.sizeBytes());
                    port.ok(DriverEntry.cuMemcpyHtoD_v2, address, port.arena.allocateFrom(ValueLayout.JAVA_BYTE, initial), variable.sizeBytes());
                    fill(module, variable.constant(), MemorySegment.ofArray(new long[] {address}).toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
        long kernel = port.made(DriverEntry.cuModuleGetFunction, module, "k");
        port.ok(DriverEntry.cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, DYNAMIC_BYTES, 0, port.parameters(data), 0);
        int[] found = port.readInts(data, 3);
        assertEquals(List.of(5, 45, 41), List.of(found[0], found[1], found[2]));
        assertEquals(0, port.readInts(report, 1)[0], "nothing was reported");
    }

    private void fill(long module, String constant, byte[] bytes) {
        MemorySegment out = port.arena.allocate(16, 8);
        port.ok(DriverEntry.cuModuleGetGlobal_v2, out, out.address() + 8, module, constant);
        assertEquals(bytes.length, out.get(ValueLayout.JAVA_LONG, 8), constant);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, out.get(ValueLayout.JAVA_LONG, 0), port.arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes),
                (long) bytes.length);
    }
}
