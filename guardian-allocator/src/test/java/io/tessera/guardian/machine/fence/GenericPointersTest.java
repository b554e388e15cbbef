package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests which functions may access shared or local memory through generic pointers, so that a fence would send the accesses elsewhere. */
class GenericPointersTest {
    private static final String WHY = "generic accesses to shared or local memory";
    private static final int SHARED_START = 47;
    private static final int LOCAL_START = 48;

    /** {@code QSPC.E.S P0, RZ, [R4]}. */
    private static CodeWords ask(CodeWords code) {
        return code.add(0x0000000004ff73aaL, 0x000e240000000500L);
    }

    /** {@code LD.E R0, desc[UR36][R4.64]}. */
    private static CodeWords load(CodeWords code) {
        return code.add(0x0000002404007980L, 0x000ea4000c101900L);
    }

    /** {@code S2R R7, SR}. */
    private static CodeWords special(CodeWords code, int register) {
        return code.add(0x0000000000077919L, 0x000e220000000000L | (long) register << 8);
    }

    /** {@code LDC R7, c[0x0][offset]}. */
    private static CodeWords constant(CodeWords code, long offset) {
        return code.add(0xff077b82L | offset << 38, 0x000e220000000800L);
    }

    private static Map<String, String> refused(CubinBuilder cubin) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(cubin.build(), MachineFences.MASK);
        Map<String, String> refused = new TreeMap<>();
        for (FunctionReport function : fenced.functions()) {
            if (!function.isFenced()) {
                refused.put(function.name(), function.refusal());
            } else {
                assertTrue(!CubinVerifier.verify(fenced.bytes(), MachineFences.MASK).containsKey(function.name()), function.name());
            }
        }
        return refused;
    }

    private static Map<String, String> refused(CodeWords kernel) throws MachineCodeException {
        return refused(CubinBuilder.of("kernel", kernel));
    }

    @Test
    void aKernelThatMakesPointersAndUsesGenericAccesses() throws MachineCodeException {
        for (int register : new int[] {SHARED_START, LOCAL_START}) {
            assertEquals(Map.of("kernel", WHY), refused(load(special(new CodeWords(), register)).exit()));
            assertEquals(Map.of(), refused(special(new CodeWords(), register).load(0, 2).exit()), "no generic access");
        }
        assertEquals(Map.of("kernel", WHY), refused(load(constant(new CodeWords(), 0x24)).exit()));
        assertEquals(Map.of(), refused(load(constant(new CodeWords(), 0x210)).exit()));
        assertEquals(Map.of(), refused(load(special(new CodeWords(), 0x21)).exit()), "the thread's number");
    }

    /** As in additions of 16-bit numbers. The pointer is one of global memory if no other instruction here makes another one. */
    @Test
    void aKernelThatAsksForTheSpaceOfAnAddress() throws MachineCodeException {
        assertEquals(Map.of(), refused(load(ask(new CodeWords())).exit()));
        assertEquals(Map.of("kernel", WHY), refused(load(ask(special(new CodeWords(), SHARED_START))).exit()));
    }

    /** A function may be given such a pointer, and one that makes them may return it. */
    @Test
    void functionsThatAreCalled() throws MachineCodeException {
        CodeWords asks = load(ask(new CodeWords())).returnBy(20);
        CodeWords makes = special(new CodeWords(), SHARED_START).returnBy(20).waiting(1);
        CodeWords other = new CodeWords().nothing().returnBy(20);
        assertEquals(Map.of("function", WHY), refused(called(new CodeWords().callSymbol().exit(), asks, 0)));
        assertEquals(Map.of(), refused(called(load(ask(new CodeWords()).callSymbol()).exit(), other, 1)));
        assertEquals(Map.of("kernel", WHY), refused(called(load(ask(new CodeWords()).callSymbol()).exit(), makes, 1)));
        assertEquals(Map.of(), refused(called(load(ask(new CodeWords())).exit(), makes, -1)), "it calls nobody");
    }

    private static CubinBuilder called(CodeWords kernel, CodeWords function, int call) {
        CubinBuilder cubin = CubinBuilder.of("kernel", kernel).function("function", 26, function);
        return call < 0 ? cubin : cubin.relocation("kernel", 16 * call, 0x4b, 2, 0);
    }
}
