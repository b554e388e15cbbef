package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.UnsupportedPtxException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** printf, assertions, traps, clocks, and PTX that the software GPU lacks. */
@Timeout(180)
class OutputTest {
    @ParameterizedTest
    @EnumSource
    void printfFormats(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "output")) {
            device.launch("print", 1, 1, 42, -1234.5678);
            assertEquals("thread 0 of 1: -1234.57|42    |000042|+42|2a|0X2A|q|text|1099511627776|0x1234|"
                    + "-1.234568e+03|-1234.57|%\n", device.printed.toString());
        }
    }

    /** A width is a number of the kernel's: 2 GB of blanks are not a plausible text. */
    @ParameterizedTest
    @EnumSource
    void aWidthWithoutBoundIsCut(Kind kind) {
        String ptx = """
                .version 8.0
                .target sm_90
                .address_size 64
                .extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
                .global .align 1 .b8 text[4] = {37, 42, 100, 0};
                .visible .entry wide()
                {
                  .local .align 8 .b8 packed[8];
                  .reg .b32 %r<3>;
                  .reg .b64 %rd<5>;
                  mov.u64 %rd1, packed;
                  cvta.local.u64 %rd2, %rd1;
                  mov.u32 %r1, 2147483647;
                  st.local.u32 [%rd1], %r1;
                  mov.u32 %r2, 7;
                  st.local.u32 [%rd1+4], %r2;
                  mov.u64 %rd3, text;
                  cvta.global.u64 %rd4, %rd3;
                  {
                    .param .b64 format;
                    .param .b64 arguments;
                    .param .b32 result;
                    st.param.b64 [format+0], %rd4;
                    st.param.b64 [arguments+0], %rd2;
                    call.uni (result), vprintf, (format, arguments);
                  }
                  ret;
                }
                """;
        try (TestDevice device = TestDevice.ofText(kind, ptx)) {
            device.launch("wide", 1, 1);
            assertEquals(" ".repeat(65_535) + "7", device.printed.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void failedAssertion(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "output")) {
            device.launch("expect", 1, 4, 4);
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("expect", 1, 4, 2));
            assertEquals(FaultKind.ASSERT, fault.kind());
            assertTrue(device.printed.toString().endsWith("block: [0,0,0], thread: [2,0,0] Assertion "
                    + "`threadIdx.x < limit` failed.\n"), device.printed.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void trapEndsTheGrid(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "output")) {
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("stop", 1000, 32, 31));
            assertEquals(FaultKind.TRAP, fault.kind());
            assertEquals(31, fault.thread().x());
        }
    }

    @ParameterizedTest
    @EnumSource
    void clocksGoOn(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "output")) {
            long out = device.doubles(0.0, 0.0);
            device.launch("times", 1, 1, out);
            assertTrue(RealMemory.getLong(out) > 0);
            assertEquals(4950, RealMemory.getLong(out + 8));
        }
    }

    @ParameterizedTest
    @EnumSource
    void missingInstructionsAreNamedWhenTheKernelIsAskedFor(Kind kind) {
        String ptx = """
                .version 8.0
                .target sm_90
                .address_size 64
                .visible .entry fine() { ret; }
                .visible .entry product()
                {
                  .reg .b32 %r<9>;
                  .reg .f64 %d<5>;
                  wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%d1,%d2}, {%d3}, {%d4},
                    {%d1,%d2};
                  ret;
                }
                """;
        try (TestDevice device = TestDevice.ofText(kind, ptx)) {
            device.launch("fine", 1, 1);
            UnsupportedPtxException missing = assertThrows(UnsupportedPtxException.class, () -> device.module.kernel("product"));
            assertTrue(missing.construct().startsWith("wmma.mma.sync"), missing.construct());
            assertEquals(9, missing.line());
        }
    }
}
