package io.tessera.guardian.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which kernels may wait for other blocks of their grid. */
@Timeout(240)
class BlockWaitsTest {
    private static final String LOOP = "a loop with LDG at offset 0x10";
    private static final CalledFunctions CALLS = new CalledFunctions(Map.of("k", Set.of("f"), "f", Set.of("g"), "r", Set.of("r")), Set.of("pointer"),
            Set.of("f", "g", "h"));

    @TempDir
    static Path folder;

    private static Map<String, String> all(Map<String, String> waiting, Set<String> loading, Set<String> calling) {
        return new BlockWaits(waiting, loading, calling).all(CALLS);
    }

    @Test
    void whoCallsAFunctionThatWaitsMayWait() {
        assertEquals(
                Map.of("g", LOOP, "f", "function g, which it may call, has " + LOOP, "k", "function g, which it may call, has " + LOOP, "pointer",
                        "a call by a register"),
                all(Map.of("g", LOOP), Set.of(), Set.of()));
    }

    @Test
    void aLoopWaitsByAFunctionThatLoads() {
        assertEquals(Set.of("k", "pointer"), all(Map.of(), Set.of("g"), Set.of("k")).keySet());
        assertEquals(Set.of("pointer"), all(Map.of(), Set.of("h"), Set.of("k")).keySet(), "k does not call what loads");
        assertEquals(Set.of("pointer"), all(Map.of(), Set.of("g"), Set.of()).keySet(), "it is called in no loop");
    }

    @Test
    void callsInACircleAreALoop() {
        assertEquals(Set.of("r", "pointer"), all(Map.of(), Set.of("r"), Set.of()).keySet());
    }

    /**
     * ptxas adds up the amounts that threads of a warp take from a counter: machine code does not show that the sum, a count of threads, is not zero.
     */
    private static final String SUMS = "runs_a_queue";
    /** Counted loops with atomics look, and are not seen to be counted any more: saying that they wait costs speed alone. */
    private static final String LOOKS = "runs_a_counted_loop_of_exchanges";

    /** The names of the kernels say what is expected. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"})
    @Tag("nvcc")
    void compiledKernelsWait(String architecture) throws Exception {
        NvccCubins.require();
        byte[] cubin = NvccCubins.compile(folder, "ptx/waits", architecture);
        for (MachineFence fence : fences().toList()) {
            FencedCubin fenced = CubinFencer.fence(cubin, fence);
            List<String> kernels = fenced.functions().stream().filter(FunctionReport::kernel).map(FunctionReport::name).toList();
            Set<String> waits = new TreeSet<>(CubinVerifier.inspect(fenced.bytes(), fence, fenced.moved().places()).mayWaitForBlocks().keySet());
            waits.retainAll(kernels);
            waits.remove(LOOKS);
            assertTrue(kernels.size() >= 20, kernels.toString());
            assertEquals(new TreeSet<>(kernels.stream().filter(kernel -> kernel.startsWith("waits_") || kernel.equals(SUMS)).toList()), waits,
                    fence.toString());
        }
    }

    /** Without optimisation, what waits is behind calls of other sections, and values are kept in local memory. Others may be said to wait. */
    @ParameterizedTest
    @CsvSource({"sm_80, -G", "sm_89, -G", "sm_90, -G", "sm_80, -Xptxas=-O0", "sm_90, -Xptxas=-O0", "sm_80, -maxrregcount=16",
            "sm_90, -maxrregcount=16"})
    @Tag("nvcc")
    void kernelsThatAreCompiledInOtherWaysWait(String architecture, String option) throws Exception {
        NvccCubins.require();
        byte[] cubin = NvccCubins.compile(folder, "ptx/waits", architecture, option);
        MachineFence fence = fences().findFirst().orElseThrow();
        FencedCubin fenced = CubinFencer.fence(cubin, fence);
        Set<String> waits = CubinVerifier.inspect(fenced.bytes(), fence, fenced.moved().places()).mayWaitForBlocks().keySet();
        assertEquals(Set.of(), fenced.functions().stream().filter(FunctionReport::kernel).map(FunctionReport::name)
                .filter(name -> name.startsWith("waits_") && !waits.contains(name)).collect(Collectors.toSet()));
        assertTrue(!waits.contains("runs_a_search") && fenced.functions().size() >= 20, fenced.functions().toString());
    }

    private static Stream<MachineFence> fences() {
        return MachineFences.windows()
                .flatMap(fence -> Stream.of(fence, fence.reporting(0x2000_0000_0000L, 5).looking(0x2000_0000_0100L).aligning()));
    }
}
