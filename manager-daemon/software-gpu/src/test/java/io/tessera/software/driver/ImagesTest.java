package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Images as nvcc makes them, and what cooperates or prints in them. */
@Timeout(180)
class ImagesTest {
    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    private MemorySegment resource(String name) {
        try (InputStream stream = ImagesTest.class.getResourceAsStream(name)) {
            byte[] bytes = stream.readAllBytes();
            MemorySegment image = port.arena.allocate(bytes.length + 1L, 16);
            image.asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            return image;
        } catch (IOException e) {
            throw new UncheckedIOException(name, e);
        }
    }

    private void scales(long module) {
        long function = port.made(DriverEntry.cuModuleGetFunction, module, "scale");
        long data = port.alloc(400);
        port.ok(DriverEntry.cuMemsetD32_v2, data, 3, 100L);
        port.launch(function, 4, 32, 0, data, 7, 99);
        int[] values = port.readInts(data, 100);
        assertEquals(1021, values[98]);
        assertEquals(3, values[99]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "zstd", "lz4"})
    void fatBinaries(String packing) {
        MemorySegment image = resource("/images/scale." + packing + ".fatbin");
        scales(port.made(DriverEntry.cuModuleLoadFatBinary, image));
        MemorySegment wrapper = port.arena.allocate(24, 8);
        wrapper.set(ValueLayout.JAVA_INT, 0, 0x466243b1);
        wrapper.set(ValueLayout.JAVA_INT, 4, 1);
        wrapper.set(ValueLayout.JAVA_LONG, 8, image.address());
        scales(port.made(DriverEntry.cuModuleLoadData, wrapper));
    }

    /** CUB asks this attribute which of the policies that were compiled into the program are to be launched. */
    @ParameterizedTest
    @CsvSource({"sm_75, 75", "'sm_90a, debug', 90", "compute_80, 80"})
    void functionsTellWhichArchitectureTheirTextIsFor(String target, int version) {
        String ptx = ".version 8.0\n.target " + target + "\n.address_size 64\n.visible .entry empty()\n{\n  ret;\n}\n";
        long function = port.made(DriverEntry.cuModuleGetFunction,
                port.made(DriverEntry.cuModuleLoadData, ptx), "empty");
        MemorySegment value = port.arena.allocate(4, 4);
        port.ok(DriverEntry.cuFuncGetAttribute, value, 5, function);
        assertEquals(version, value.get(ValueLayout.JAVA_INT, 0));
    }

    @Test
    void machineCodeAloneIsNotEnough() {
        port.fails(209, DriverEntry.cuModuleLoadData, port.arena.allocate(8), resource("/images/scale.cubin"));
    }

    @Test
    void inputsAreLinked() {
        String header = ".version 8.0\n.target sm_80\n.address_size 64\n";
        String caller = header + """
                .extern .func (.param .b32 result) twice(.param .b32 value);
                .visible .entry run(.param .u64 target, .param .u32 what)
                {
                    .reg .b32 %r<3>;
                    .reg .b64 %rd<2>;
                    .param .b32 argument;
                    .param .b32 answer;
                    ld.param.u64 %rd1, [target];
                    ld.param.u32 %r1, [what];
                    st.param.b32 [argument], %r1;
                    call.uni (answer), twice, (argument);
                    ld.param.b32 %r2, [answer];
                    st.global.u32 [%rd1], %r2;
                    ret;
                }
                """;
        String callee = header + """
                .visible .func (.param .b32 result) twice(.param .b32 value)
                {
                    .reg .b32 %r<3>;
                    ld.param.b32 %r1, [value];
                    add.s32 %r2, %r1, %r1;
                    st.param.b32 [result], %r2;
                    ret;
                }
                """;
        MemorySegment state = port.arena.allocate(8, 8);
        port.ok(DriverEntry.cuLinkCreate_v2, 0, 0, 0, state);
        long linker = state.get(ValueLayout.JAVA_LONG, 0);
        for (String input : new String[] {caller, callee}) {
            port.ok(DriverEntry.cuLinkAddData_v2, linker, 1, input, (long) input.length() + 1, 0, 0, 0, 0);
        }
        MemorySegment image = port.arena.allocate(16, 8);
        port.ok(DriverEntry.cuLinkComplete, linker, image, image.address() + 8);
        long module = port.made(DriverEntry.cuModuleLoadData, image.get(ValueLayout.JAVA_LONG, 0));
        port.ok(DriverEntry.cuLinkDestroy, linker);
        long data = port.alloc(4);
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, "run"), 1, 1, 0, data, 21);
        assertEquals(42, port.readInts(data, 1)[0]);
    }

    @Test
    void gridsThatWaitForThemselves() {
        long module = port.made(DriverEntry.cuModuleLoadData, resource("/kernels/together.ptx"));
        long function = port.made(DriverEntry.cuModuleGetFunction, module, "rotate");
        int threads = 2 * 64;
        long data = port.alloc(8L * threads);
        port.ok(DriverEntry.cuMemsetD32_v2, data, 0, 2L * threads);
        port.ok(DriverEntry.cuLaunchCooperativeKernel, function, 2, 1, 1, 64, 1, 1, 0, 0, port.parameters(data, 10));
        assertEquals(10, port.readInts(data, threads)[threads - 1]);
    }

    @Test
    void assertionsLoseTheContext() {
        long module = port.made(DriverEntry.cuModuleLoadData, resource("/kernels/output.ptx"));
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, "expect"), 1, 32, 0, 16);
        port.fails(710, DriverEntry.cuCtxSynchronize);
    }

    @Test
    void whatKernelsPrintComesWhenSomebodyWaits() throws IOException, InterruptedException {
        String output = PrintingProgram.run();
        assertTrue(output.contains("before\nthread 0 of 1:  2.50|7     |000007|+7|"), output);
        assertTrue(output.endsWith("after\n"), output);
    }

    @Test
    void anEndlessKernelEndsWithItsContext() {
        long context = port.made(DriverEntry.cuCtxCreate_v2, 0, 0);
        long module = port.made(DriverEntry.cuModuleLoadData, resource("/kernels/output.ptx"));
        long flag = port.alloc(4);
        port.ok(DriverEntry.cuMemsetD32_v2, flag, 0, 1L);
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, "endless"), 1, 1, 0, flag);
        port.fails(600, DriverEntry.cuStreamQuery, 0);
        port.ok(DriverEntry.cuCtxDestroy_v2, context);
    }
}
