package io.tessera.guardian.machine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.code.AccessDescriptors;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Code of nvcc is read, comes out unchanged without a fence, and is fenced and verified; refusals have a known reason. */
@Tag("nvcc")
@Timeout(240)
class NvccMachineTest {
    @TempDir
    static Path folder;

    @BeforeAll
    static void findCompiler() {
        NvccCubins.require();
    }

    @ParameterizedTest
    @CsvSource({"machine/forms, sm_90", "machine/forms, sm_90a", "ptx/calls, sm_90", "ptx/memory, sm_90", "ptx/numbers, sm_90", "ptx/threads, sm_90",
            "ptx/pipelines, sm_90", "ptx/hopper, sm_90a", "machine/forms, sm_80", "machine/forms, sm_86", "machine/forms, sm_89", "ptx/calls, sm_80",
            "ptx/memory, sm_80", "ptx/numbers, sm_86", "ptx/threads, sm_89", "ptx/pipelines, sm_80"})
    void withoutAFenceACubinComesOutAsItWas(String source, String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, source, architecture);
        assertArrayEquals(cubin, CubinFencer.fence(cubin, MachineFences.NONE).bytes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sm_100", "sm_120"})
    void newerArchitecturesAreRefused(String architecture) throws Exception {
        assertRefusedWhole(NvccCubins.compile(folder, "machine/forms", architecture), architecture);
    }

    private static void assertRefusedWhole(byte[] cubin, String architecture) {
        MachineFences.windows().forEach(fence -> {
            String why = assertThrows(MachineCodeException.class, () -> CubinFencer.fence(cubin, fence)).getMessage();
            assertEquals("machine code for " + architecture + "; instructions are known for sm_80, sm_86, sm_89, sm_90 only", why);
            assertThrows(MachineCodeException.class, () -> CubinVerifier.verify(cubin, fence));
        });
    }

    /** Compilers load the driver's descriptor once, from where {@code Architecture.descriptorInBank} says, and write its registers with nothing else in small kernels. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_80", "sm_86", "sm_89", "sm_90"})
    void descriptorsOfCompiledCodeAreTheDrivers(String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, "machine/forms", architecture);
        byte[] fenced = CubinFencer.fence(cubin, MachineFences.MASK).bytes();
        for (String kernel : new String[] {"loops", "vectors_moved"}) {
            assertTrue(descriptors(cubin, kernel) > 0, kernel);
            assertEquals(descriptors(cubin, kernel), descriptors(fenced, kernel), kernel);
        }
    }

    private static long descriptors(byte[] bytes, String kernel) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        CubinSection section = cubin.section(CubinSection.CODE + kernel);
        SectionFlow flow = SectionFlow.of(cubin.requireKnownInstructions(), CodeReader.words(section),
                CodeReader.entered(cubin, section, CubinSymbols.of(cubin)));
        return IntStream.range(0, flow.count()).filter(i -> AccessDescriptors.has(flow, i)).count();
    }

    /** The list of what cannot be fenced yet: a kernel that leaves it comes off the list. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_90", "sm_90a"})
    void onlyTheseFormsAreRefused(String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, "machine/forms", architecture);
        Map<String, String> expected = new TreeMap<>(Map.of("indirect", "an instruction that is not known (opcode 0x344)",
                "generic", "generic accesses to shared or local memory",
                "tensor_map_in_memory", "a UTMAPF, whose tensor map is not seen to be a parameter"));
        for (MachineFence fence : MachineFences.windows().toList()) {
            assertEquals(expected, refusals(cubin, fence), fence.kind().toString());
        }
    }

    /** As above, before sm_90, where kernels with tensor maps have no code, and calls through a register are not known either. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_80", "sm_86", "sm_89"})
    void onlyTheseFormsAreRefusedBeforeSm90(String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, "machine/forms", architecture);
        Map<String, String> expected = new TreeMap<>(Map.of("indirect", "an instruction that is not known (opcode 0x344)",
                "generic", "generic accesses to shared or local memory"));
        for (MachineFence fence : MachineFences.windows().toList()) {
            assertEquals(expected, refusals(cubin, fence), fence.kind().toString());
        }
    }

    /** The distances are those of the parameters, each map at a multiple of 64 from constant 0x210 where parameters begin. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_90", "sm_90a"})
    void whereTensorMapsLieIsTold(String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, "machine/forms", architecture);
        for (MachineFence fence : MachineFences.windows().toList()) {
            FencedCubin fenced = CubinFencer.fence(cubin, fence);
            assertEquals(Map.of("tensor_maps", new TensorMapPlaces(Set.of(0x30, 0xf0), Set.of(), false)),
                    CubinVerifier.inspect(fenced.bytes(), fence, fenced.moved().places()).tensorMaps());
        }
    }

    @ParameterizedTest
    @CsvSource({"ptx/calls, sm_90", "ptx/memory, sm_90", "ptx/numbers, sm_90", "ptx/threads, sm_90", "ptx/pipelines, sm_90", "ptx/hopper, sm_90a",
            "ptx/calls, sm_80", "ptx/memory, sm_80", "ptx/numbers, sm_80", "ptx/threads, sm_80", "ptx/pipelines, sm_80", "ptx/numbers, sm_86",
            "ptx/numbers, sm_89", "ptx/threads, sm_89"})
    void otherKernelsAreFencedAndSeenToBeOrRefusedByName(String source, String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, source, architecture);
        for (MachineFence fence : MachineFences.windows().toList()) {
            refusals(cubin, fence).values().forEach(why -> assertTrue(why.matches("an? .*|generic accesses .*|after .*"), why));
        }
    }

    /** The list of kernels with an address that is not seen to be aligned: those that copy by tensor maps, and one by a uniform register that is written under a predicate. */
    @ParameterizedTest
    @CsvSource({"machine/forms, sm_90, tensor_maps", "ptx/calls, sm_90,", "ptx/memory, sm_90,", "ptx/numbers, sm_90,", "ptx/threads, sm_90,",
            "ptx/pipelines, sm_90, barrier_sum", "ptx/hopper, sm_90a,"})
    void addressesAreSeenToBeAligned(String source, String architecture, String unseen) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, source, architecture);
        for (MachineFence fence : MachineFences.windows().map(MachineFence::aligning).toList()) {
            FencedCubin fenced = CubinFencer.fence(cubin, fence);
            VerifiedCubin seen = CubinVerifier.inspect(fenced.bytes(), fence, fenced.moved().places());
            assertEquals(refusals(cubin, MachineFences.windows().filter(other -> other.kind() == fence.kind()).findFirst().orElseThrow()).keySet(),
                    refusals(cubin, fence).keySet());
            Map<String, String> misaligned = seen.mayMisalign();
            misaligned.keySet().removeAll(seen.unfenced(fenced.functions()).keySet());
            assertEquals(unseen == null ? Set.of() : Set.of(unseen), misaligned.keySet(), misaligned.toString());
        }
    }

    /** Refused functions with the reason without its offset. Functions that are not refused are seen to be fenced, refused ones are not. */
    private static Map<String, String> refusals(byte[] cubin, MachineFence fence) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(cubin, fence);
        Map<String, String> unseen = CubinVerifier.inspect(fenced.bytes(), fence, fenced.moved().places()).refused();
        Map<String, String> refused = new TreeMap<>();
        for (FunctionReport function : fenced.functions()) {
            if (function.isFenced()) {
                assertTrue(!unseen.containsKey(function.name()), () -> function.name() + ": " + unseen.get(function.name()));
            } else {
                refused.put(function.name(), function.refusal().replaceAll(" at offset .*", ""));
            }
        }
        return refused;
    }
}
