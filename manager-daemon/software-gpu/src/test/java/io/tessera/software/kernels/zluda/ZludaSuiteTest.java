package io.tessera.software.kernels.zluda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.kernels.TestDevice;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * The PTX tests of another project, ZLUDA, which run on NVIDIA's driver there: interpreted and compiled, unfenced and in every
 * fence mode. They are not part of this tree: {@code -Dtessera.test.zluda=FOLDER} names a copy of {@code ptx/src/test/spirv_run}
 * of github.com/vosen/ZLUDA; without it they are skipped.
 */
@Timeout(300)
class ZludaSuiteTest {
    private static final String FOLDER = System.getProperty("tessera.test.zluda", "");
    /** Dynamic shared memory of every launch there. */
    private static final int SHARED_BYTES = 1024;
    /** Fewer cases than this mean that the source was not understood. */
    private static final int LEAST_CASES = 180;

    @TestFactory
    Stream<DynamicContainer> everyKernelComputesWhatItHasTo() throws Exception {
        assumeTrue(!FOLDER.isEmpty(), "no folder of ZLUDA's tests is named by -Dtessera.test.zluda");
        List<ZludaCase> cases = ZludaCase.all(Files.readString(Path.of(FOLDER, "mod.rs")));
        assertTrue(cases.size() >= LEAST_CASES, cases.size() + " cases found in " + FOLDER);
        return Stream.of(TestDevice.Kind.values()).flatMap(
                kind -> Stream.of(FenceMode.values()).map(mode -> DynamicContainer.dynamicContainer(kind + " " + mode, cases(cases, kind, mode))));
    }

    /** One device for all cases of a way: its window is what takes long to make. */
    private static Stream<DynamicTest> cases(List<ZludaCase> cases, TestDevice.Kind kind, FenceMode mode) {
        Interpreter interpreter = new Interpreter();
        SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 1, DeviceLimits.of(2),
                kind == TestDevice.Kind.INTERPRETED ? interpreter : new KernelCompiler(interpreter, () -> 0),
                DeviceClock.system()));
        FenceWindow window = new FenceWindow(processor, mode);
        return cases.stream().map(one -> DynamicTest.dynamicTest(one.name() + " " + kind + " " + mode,
                () -> check(one, processor, window))).onClose(processor::close);
    }

    private static void check(ZludaCase one, SoftwareProcessor processor, FenceWindow window) throws Exception {
        String ptx = Files.readString(Path.of(FOLDER, one.name() + ".ptx"), StandardCharsets.UTF_8);
        LoadedKernel kernel = (window.mode == FenceMode.NONE ? processor.load(ptx) : window.load(ptx)).kernel(one.name());
        for (int i = 0; i < ReportArea.BYTES; i += Long.BYTES) {
            RealMemory.putLong(window.report + i, 0);
        }
        byte[] expected = one.output().bytes();
        long out = put(window, new byte[expected.length]);
        long in = one.input() == null ? out : put(window, one.input().bytes());
        ByteBuffer parameters = ByteBuffer.allocate(kernel.kernel().parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
        parameters.putLong(in);
        if (parameters.hasRemaining()) {
            parameters.putLong(out);
        }
        processor.launch(kernel, new LaunchSpec(new Dim3(1, 1, 1), new Dim3(one.threads(), 1, 1), null, SHARED_BYTES,
                parameters.array(), false), text -> {}, new GridControl());
        byte[] found = new byte[expected.length];
        for (int i = 0; i < found.length; i++) {
            found[i] = RealMemory.getByte(out + i);
        }
        assertTrue(one.output().isEqualTo(found), () -> "expected " + HexFormat.of().formatHex(expected) + " of "
                + one.output().type() + ", got " + HexFormat.of().formatHex(found));
        assertEquals(List.of(), window.violations());
    }

    private static long put(FenceWindow window, byte[] bytes) {
        long address = window.allocate(bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            RealMemory.putByte(address + i, bytes[i]);
        }
        return address;
    }

    /** The reader of the expected numbers, which has to be right where the suite itself is not here. */
    @Test
    void numbersAreReadAsRustWritesThem() {
        List<ZludaCase> cases = ZludaCase.all("""
                test_ptx!(one, [1u64, u64::max_value()], [-1i16]); // [2]
                // test_ptx!(left_out, [1u64], [1u64]);
                test_ptx!(compiled_only);
                test_ptx_warp!(many, [
                    0x10, 0b11, -5, 4_000,
                ]);
                test_ptx_with_32!(halves, [half::f16::NAN, half::f16::from_f64(123.0)], [1.5, 2f32, f32::from_bits(0x33800000)]);
                """);
        assertEquals(List.of("one", "many", "halves"), cases.stream().map(ZludaCase::name).toList());
        assertEquals(new RustArray("u64", List.of(1L, -1L)), cases.get(0).input());
        assertEquals("ffff", HexFormat.of().formatHex(cases.get(0).output().bytes()));
        assertEquals(new RustArray("i32", List.of(16L, 3L, -5L, 4000L)), cases.get(1).output());
        assertEquals(64, cases.get(1).threads());
        assertEquals("007eb057", HexFormat.of().formatHex(cases.get(2).input().bytes()));
        assertEquals("0000c03f0000004000008033", HexFormat.of().formatHex(cases.get(2).output().bytes()));
        byte[] minusZero = {0, 0, 0, (byte) 0x80};
        assertTrue(new RustArray("f32", List.of(0L)).isEqualTo(minusZero));
        assertTrue(!new RustArray("i32", List.of(0L)).isEqualTo(minusZero));
        assertTrue(!new RustArray("i32", List.of(0L)).isEqualTo(Arrays.copyOf(minusZero, 8)));
    }
}
