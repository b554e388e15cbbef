package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.program.UnsupportedPtxException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** How deep a program's functions call each other is the program's choice, and no stack of the device's own bounds it. */
@Timeout(180)
class DeepCallsTest {
    private static final String HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 count;\n";

    /** Each function counts, and calls the one before. */
    private static String chain(int functions, String declarations) {
        StringBuilder text = new StringBuilder(HEAD);
        for (int i = 0; i < functions; i++) {
            text.append(".func f").append(i).append("() { .reg .b32 %r; ").append(declarations).append(" atom.global.add.u32 %r, [count], 1; ")
                    .append(i == 0 ? "" : "call f" + (i - 1) + ";").append(" ret; }\n");
        }
        return text.append(".visible .entry k() { call f").append(functions - 1).append("; ret; }\n").toString();
    }

    private static int count(TestDevice device) {
        return device.ints(device.module.globals().get("count").address(), 1)[0];
    }

    /** Few are compiled, more are left to the interpreter; the last are many more than recursion could follow. */
    @ParameterizedTest
    @CsvSource({"COMPILED, 150", "COMPILED, 300", "COMPILED, 20000", "INTERPRETED, 20000"})
    void aLongChainOfFunctionsRuns(Kind kind, int functions) {
        try (TestDevice device = TestDevice.ofText(kind, chain(functions, ""))) {
            device.launch("k", 1, 2);
            assertEquals(2 * functions, count(device));
        }
    }

    /** 2 MB of frames, 2 GB and 3 GB of them: a sum of 32 bits would be negative for the last. */
    @ParameterizedTest
    @CsvSource({"COMPILED, 4", "COMPILED, 4000", "COMPILED, 6000", "INTERPRETED, 6000"})
    void framesOfMoreThanThereIsAreRefused(Kind kind, int functions) {
        try (TestDevice device = TestDevice.ofText(kind, chain(functions, ".local .align 8 .b8 a[524000];"))) {
            UnsupportedPtxException refused = assertThrows(UnsupportedPtxException.class, () -> device.launch("k", 1, 1));
            assertEquals("local memory of " + 524_000L * functions + " bytes for a thread", refused.construct());
        }
    }

    /** A function without variables that calls itself would otherwise fill the heap with its calls. */
    @ParameterizedTest
    @EnumSource
    void endlessRecursionOverflowsTheStack(Kind kind) {
        try (TestDevice device = TestDevice.ofText(kind, HEAD + ".func f();\n.func f() { call f; ret; }\n.visible .entry k() { call f; ret; }\n")) {
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("k", 1, 1));
            assertEquals(FaultKind.STACK_OVERFLOW, fault.kind(), fault::getMessage);
        }
    }
}
