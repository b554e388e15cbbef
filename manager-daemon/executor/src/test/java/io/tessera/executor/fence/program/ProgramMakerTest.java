package io.tessera.executor.fence.program;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.load.ProgramLoader;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.worker.Answer;
import io.tessera.executor.worker.InProcessWorkers;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.cache.FencedTablesWriter;
import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.testing.driver.CallInjector;
import io.tessera.testing.driver.FakeDriver;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls to workers and a driver when programs are made, kept, loaded and ended; both write them down. */
class ProgramMakerTest {
    private static final String PTX = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry work(.param .u64 to)
            {
                .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [to];
                st.global.u64 [%rd1], %rd1;
                ret;
            }
            """;
    private static final String TENANT = "a";
    private static final Target COMPILES = new Target(new ComputeCapability(9, 0), "driver 13000 1", true);
    /** Another option, so another program: a limit of registers. */
    private static final CodeOptions FEWER = new CodeOptions(List.of(0), List.of(32L));

    @TempDir
    Path folder;
    private final InProcessWorkers workers = new InProcessWorkers();

    /** Records the needs of programs, and may refuse one entry. */
    private static final class Recorder implements CallInjector {
        private final FakeDriver gpu = new FakeDriver();
        private final List<DriverEntry> asked = new ArrayList<>();
        private final List<Long> registers = new ArrayList<>();
        private DriverEntry refused;

        Recorder() {
            gpu.isGpu();
        }

        @Override
        public int call(DriverEntry entry, MemorySegment slots, DriverPort driver) {
            asked.add(entry);
            if (entry == DriverEntry.cuLibraryLoadData) {
                options(slots);
            }
            return entry == refused ? CudaResult.INVALID_PTX : driver.call(entry, slots);
        }

        private void options(MemorySegment slots) {
            MemorySegment numbers = memory(slot(slots, 2), Integer.BYTES * slot(slots, 4));
            MemorySegment values = memory(slot(slots, 3), Long.BYTES * slot(slots, 4));
            for (int i = 0; i < slot(slots, 4); i++) {
                if (numbers.getAtIndex(ValueLayout.JAVA_INT, i) == 0) {
                    registers.add(values.getAtIndex(ValueLayout.JAVA_LONG, i));
                }
            }
        }

        private static long slot(MemorySegment slots, int index) {
            return slots.getAtIndex(ValueLayout.JAVA_LONG, index);
        }

        private static MemorySegment memory(long address, long bytes) {
            return MemorySegment.ofAddress(address).reinterpret(bytes);
        }
    }

    private ProgramMaker maker(Target target, TextCheck check) throws IOException {
        return new ProgramMaker(target, CodeCache.open(folder.resolve("code"), 1 << 24, () -> Instant.EPOCH, line -> {
            throw new AssertionError(line);
        }), workers, check, new LocalQuota(0, 0), Clocks.system().monotonic());
    }

    private ProgramMaker maker() throws IOException {
        return maker(COMPILES, TextCheck.none());
    }

    private static ProgramSource source() {
        return ProgramSource.of(ModuleImage.of(PTX.getBytes(StandardCharsets.US_ASCII)));
    }

    private FencedProgram make(ProgramMaker maker, CodeOptions options) throws ProgramRefusedException {
        return maker.make(TENANT, source(), FenceForm.of(FenceMode.MASK), options, false);
    }

    @Test
    void aModuleIsCompiledOnceInAWorkerAndKeptAsText() throws Exception {
        ProgramMaker maker = maker();
        FencedProgram made = make(maker, CodeOptions.none());
        assertEquals(List.of("fence a", "assemble a"), workers.asked);
        String text = new String(workers.assembled, StandardCharsets.US_ASCII);
        assertTrue(text.contains(".entry work") && text.contains("__tessera_window"), text);
        assertEquals(0, made.code()[made.code().length - 1]);
        assertArrayEquals(made.code(), workers.assembled, "what is loaded is what was compiled");
        assertEquals(made, make(maker, CodeOptions.none()));
        FencedProgram found = make(maker(), CodeOptions.none());
        assertTrue(found.cached());
        assertArrayEquals(made.code(), found.code());
        assertEquals(2, workers.asked.size(), "found: no worker is needed");
        make(maker, FEWER);
        assertEquals(FEWER, workers.options);
    }

    @Test
    void anotherCompilerHasKeptTextInAWorkerFirst() throws Exception {
        make(maker(), CodeOptions.none());
        Target newer = new Target(COMPILES.capability(), "driver 13010 2", true);
        workers.asked.clear();
        assertTrue(make(maker(newer, TextCheck.none()), CodeOptions.none()).cached());
        assertEquals(List.of("assemble a"), workers.asked);
        workers.asked.clear();
        make(maker(newer, TextCheck.none()), CodeOptions.none());
        assertEquals(List.of(), workers.asked);
    }

    @Test
    void whoWaitsForAClientThatEndsHasItMadeAnew() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        AtomicInteger checked = new AtomicInteger();
        ProgramMaker maker = maker(COMPILES, (text, _, _) -> {
            if (checked.incrementAndGet() == 1) {
                await(waits); // while the first client makes it, the second asks for it, and the first ends
                workers.abandon(Thread.currentThread());
                throw new IllegalStateException("its worker was ended");
            }
            return new TextCheck.Checked(null, text, Map.of(), Set.of(), null);
        });
        Thread first = Thread.ofPlatform().start(() -> assertThrows(IllegalStateException.class, () -> make(maker, CodeOptions.none())));
        while (checked.get() == 0) {
            Thread.onSpinWait();
        }
        CompletableFuture<FencedProgram> second = CompletableFuture.supplyAsync(() -> {
            try {
                return make(maker, CodeOptions.none());
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
        waits.countDown();
        assertTrue(second.get(60, TimeUnit.SECONDS).isText());
        first.join();
    }

    /** Several processes of a tenant have a thread each. */
    @Test
    void ofATenantOneTextIsLookedAtAtATime() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ProgramMaker maker = maker(COMPILES, (text, _, _) -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            LockSupport.parkNanos(20_000_000);
            inside.decrementAndGet();
            return new TextCheck.Checked(null, text, Map.of(), Set.of(), null);
        });
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            CodeOptions options = new CodeOptions(List.of(0), List.of(32L + i));
            all.add(CompletableFuture.runAsync(() -> {
                try {
                    make(maker, options);
                } catch (ProgramRefusedException e) {
                    throw new CompletionException(e);
                }
            }, task -> Thread.ofPlatform().start(task)));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(60, TimeUnit.SECONDS);
        }
        assertEquals(1, most.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatTheCompilerRefusesIsToldInItsWordsAndNotKept() throws Exception {
        workers.refused = new Answer(CudaResult.INVALID_PTX, "ptxas: line 7: no", List.of());
        ProgramRefusedException why = assertThrows(ProgramRefusedException.class, () -> make(maker(), CodeOptions.none()));
        assertEquals("ptxas: line 7: no", why.getMessage());
        assertEquals(CudaResult.INVALID_PTX, why.result());
        workers.refused = null;
        assertFalse(make(maker(), CodeOptions.none()).cached());
    }

    @Test
    void noDriverGetsWhatTheCheckDoesNotAccept() throws Exception {
        List<Boolean> looked = new ArrayList<>();
        ProgramRefusedException why = assertThrows(ProgramRefusedException.class, () -> make(maker(COMPILES, (text, _, _) -> {
            looked.add(new String(text, StandardCharsets.US_ASCII).contains(".entry work"));
            return TextCheck.Checked.refused("line 3");
        }), CodeOptions.none()));
        assertEquals(CudaResult.NOT_SUPPORTED, why.result());
        assertTrue(why.getMessage().contains("line 3"), why.getMessage());
        assertEquals(List.of("fence a", "fence plain a"), workers.asked, "without proofs it might have been accepted");
        assertEquals(List.of(true, true), looked);
    }

    @Test
    void whatACheckAcceptsOnlyWithoutProofsIsMadeWithoutProofs() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        make(maker(COMPILES, (text, _, _) -> asked.incrementAndGet() == 1 ? TextCheck.Checked.refused("no")
                : new TextCheck.Checked(null, text, Map.of(), Set.of(), null)), CodeOptions.none());
        assertEquals(List.of("fence a", "fence plain a", "assemble a"), workers.asked);
    }

    /** Each of several linked modules only describes itself: a function that uses clusters proves nothing about other modules' kernels. */
    @Test
    void aLinkedProgramKnowsClustersWhereAllOfItDoes() {
        List<FencedTables> tables = new ArrayList<>();
        for (boolean clusters : new boolean[] {true, false}) {
            tables.add(new FencedTables(FenceMode.MASK, 1, List.of(), List.of(), List.of(), List.of(), false, false, List.of(), Map.of(), clusters,
                    false, Set.of(), Map.of()));
        }
        assertFalse(new FencedProgram(new byte[0], tables, "", false).clusters());
        assertTrue(new FencedProgram(new byte[0], tables.subList(0, 1), "", false).clusters());
    }

    @Test
    void keptTextIsNotVerifiedAgain() throws Exception {
        make(maker(), CodeOptions.none());
        workers.asked.clear();
        assertTrue(make(maker(COMPILES, (_, _, _) -> TextCheck.Checked.refused("line 9")), CodeOptions.none()).cached());
        assertEquals(List.of(), workers.asked);
    }

    @Test
    void aKernelThatIsNotAcceptedIsRefusedByItself() throws Exception {
        byte[] rest = "the rest".getBytes(StandardCharsets.US_ASCII);
        FencedProgram made = make(maker(COMPILES, (_, _, _) -> new TextCheck.Checked(null, rest, Map.of("work", "line 5"), Set.of("work"), null)),
                CodeOptions.none());
        assertEquals(List.of("fence a", "fence [work] plain a", "fence plain a", "assemble a"), workers.asked,
                "without proofs it might have been accepted");
        assertEquals("the rest\0", new String(made.code(), StandardCharsets.US_ASCII));
        assertEquals("line 5", made.refusal("work"));
    }

    @Test
    void functionsThatAreNotAcceptedAreFencedWithoutProofsAndNoOthers() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        make(maker(COMPILES, (text, _, _) -> {
            return asked.incrementAndGet() == 1 ? new TextCheck.Checked("line 5", text, Map.of(), Set.of("another", "work"), null)
                    : asked.get() == 2 ? new TextCheck.Checked(null, text, Map.of("work", "line 6"), Set.of("third"), null)
                    : new TextCheck.Checked(null, text, Map.of(), Set.of(), null);
        }), CodeOptions.none());
        assertEquals(4, workers.asked.size(), workers.asked.toString());
        assertEquals("fence a", workers.asked.get(0));
        assertTrue(workers.asked.get(1).matches("fence \\[(another, work|work, another)] plain a"), workers.asked.get(1));
        assertTrue(workers.asked.get(2).contains("third") && workers.asked.get(2).contains("work"), workers.asked.get(2));
    }

    @Test
    void whereNothingIsWonWithoutProofsTheyAreKept() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        byte[][] texts = new byte[4][];
        FencedProgram made = make(maker(COMPILES, (text, _, _) -> {
            texts[asked.incrementAndGet()] = ("text " + asked.get()).getBytes(StandardCharsets.US_ASCII);
            return new TextCheck.Checked(null, texts[asked.get()], Map.of("work", "line " + asked.get()), Set.of("work"), null);
        }), CodeOptions.none());
        assertEquals(3, asked.get());
        assertEquals("text 2\0", new String(made.code(), StandardCharsets.US_ASCII));
        assertEquals("line 2", made.refusal("work"));
    }

    @Test
    void theVerifierAcceptsWhatTheRewriterMadeAndNothingElse() throws Exception {
        FencedProgram made = make(maker(COMPILES, new VerifiedText()), CodeOptions.none());
        assertEquals(List.of("fence a", "assemble a"), workers.asked);
        TextCheck check = new VerifiedText();
        FencedTables tables = made.tables().getFirst();
        assertEquals(null, check.check(made.code(), tables, false).first());
        String unfenced = new String(made.code(), StandardCharsets.US_ASCII).replaceAll("\tor\\.b32[^;]*;\n", "");
        assertTrue(check.check(unfenced.getBytes(StandardCharsets.US_ASCII), tables, false).first().contains("st.global.u64"));
    }

    /** A kernel that no module of a linked program describes is unknown; where two modules have one, either may be linked. */
    @Test
    void aKernelMayWaitForBlocksUnlessItsModuleSaysThatItDoesNot() {
        List<FencedTables> tables = new ArrayList<>();
        for (Set<String> waiting : List.of(Set.of("spins", "both"), Set.of("f"))) {
            tables.add(new FencedTables(FenceMode.MASK, 1, List.of(), List.of(), List.of("spins", "adds", "both"), List.of(), false, false, List.of(),
                    Map.of(), false, false, waiting, Map.of()));
        }
        FencedProgram program = new FencedProgram(new byte[0], tables, "", false);
        assertTrue(program.mayWaitForBlocks("spins"));
        assertTrue(program.mayWaitForBlocks("both"));
        assertFalse(program.mayWaitForBlocks("adds"));
        assertTrue(program.mayWaitForBlocks("elsewhere"));
        assertTrue(program.mayWaitForBlocks(""));
    }

    @Test
    void tablesThatWouldFillSomethingElseAreRefused() throws Exception {
        FencedProgram made = make(maker(), CodeOptions.none());
        for (String constant : List.of("__tessera_window", "anything")) {
            FencedTables tables = new FencedTables(FenceMode.MASK, 1, List.of(new HoistedVariable("x", constant, Linkage.INTERNAL, false, false, 8, 8,
                    new byte[0], List.of())), List.of(), List.of("work"), List.of(), false, false, List.of(), Map.of(), false, false, Set.of(),
                    Map.of());
            assertTrue(new VerifiedText().check(made.code(), tables, false).refusal().contains(constant));
        }
        FencedTables patched = new FencedTables(FenceMode.MASK, 1, List.of(),
                List.of(new ConstantPatch("__tessera_window", new HoistedVariable.Relocation(0, 8, 0,
                        "x", 0))),
                List.of("work"), List.of(), false, false, List.of(), Map.of(), false, false, Set.of(), Map.of());
        assertTrue(new VerifiedText().check(made.code(), patched, false).refusal().contains("patch"));
        String more = new String(made.code(), StandardCharsets.US_ASCII)
                .replace(".visible .entry", ".visible .const .b64 __tessera_at_x;\n.visible .entry")
                .replaceFirst("ld\\.param\\.u64 \t(%\\w+), \\[[^]]*]", "ld.const.u64 \t$1, [__tessera_at_x]");
        assertTrue(new VerifiedText().check(more.getBytes(StandardCharsets.US_ASCII), made.tables().getFirst(), false).refusal()
                .contains("__tessera_at_x"));
    }

    @Test
    void tablesThatCannotBeMeantAreRefused() throws Exception {
        FencedTables wide = new FencedTables(FenceMode.MASK, 1, List.of(new HoistedVariable("x", "__tessera_at_x", Linkage.INTERNAL, false,
                false, 8, 8, new byte[0], List.of(new HoistedVariable.Relocation(4, 8, 0, "x", 0)))), List.of(), List.of("work"), List.of(),
                false, false, List.of(), Map.of(), false, false, Set.of(), Map.of());
        assertTrue(TablesCheck.refusal(wide, FenceMode.MASK).contains("variable x"));
        assertTrue(TablesCheck.refusal(wide, FenceMode.CHECK).contains("mode"));
        workers.tables = FencedTablesWriter.write(wide);
        assertThrows(ProgramRefusedException.class, () -> make(maker(), CodeOptions.none()));
    }

    @Test
    void optimisationAndDebuggingReachNoCompiler() {
        CodeOptions options = CodeOptions.of(List.of(0, 7, 11, 1), List.of(32L, 0L, 1L, 128L));
        assertEquals(List.of(0, 1), options.numbers());
        assertEquals(List.of(32L, 128L), options.values());
    }

    @Test
    void textIsLoadedAsALibraryAlsoWhereAModuleIsWanted() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Recorder port = new Recorder();
            DriverCalls driver = new DriverCalls(port.over(port.gpu), arena);
            FencedProgram program = new FencedProgram((PTX + "\0").getBytes(StandardCharsets.US_ASCII), List.of(), "", false);
            LoadedCode module = ProgramLoader.load(program, false, FEWER, driver);
            LoadedCode library = ProgramLoader.load(program, true, FEWER, driver);
            assertEquals(List.of(DriverEntry.cuLibraryLoadData, DriverEntry.cuLibraryGetModule, DriverEntry.cuLibraryLoadData), port.asked);
            assertEquals(List.of(32L, 32L), port.registers);
            assertEquals(Set.of(module.whole(), library.handle()), port.gpu.made("library"));
            assertEquals(new LoadedCode(module.handle(), false, module.whole()), module);
            assertEquals(new LoadedCode(library.handle(), true, 0), library);
            assertNotEquals(module.whole(), module.handle());
            port.asked.clear();
            module.unload(driver);
            library.unload(driver);
            assertEquals(List.of(DriverEntry.cuLibraryUnload, DriverEntry.cuLibraryUnload), port.asked);
        }
    }

    @Test
    void machineCodeIsLoadedAsItWasAskedFor() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Recorder port = new Recorder();
            DriverCalls driver = new DriverCalls(port.over(port.gpu), arena);
            FencedProgram program = new FencedProgram(new byte[] {0x7f, 'E', 'L', 'F', 2, 1}, List.of(), "", false);
            LoadedCode module = ProgramLoader.load(program, false, CodeOptions.none(), driver);
            module.unload(driver);
            assertEquals(List.of(DriverEntry.cuModuleLoadData, DriverEntry.cuModuleUnload), port.asked);
        }
    }

    @Test
    void aLibraryWithoutItsModuleIsEnded() {
        try (Arena arena = Arena.ofConfined()) {
            Recorder port = new Recorder();
            port.refused = DriverEntry.cuLibraryGetModule;
            FencedProgram program = new FencedProgram((PTX + "\0").getBytes(StandardCharsets.US_ASCII), List.of(), "", false);
            assertThrows(ProgramRefusedException.class,
                    () -> ProgramLoader.load(program, false, CodeOptions.none(), new DriverCalls(port.over(port.gpu), arena)));
            assertEquals(DriverEntry.cuLibraryUnload, port.asked.getLast());
        }
    }

    @Test
    void textIsKeptCompressedAndMachineCodeAsItIs() throws Exception {
        byte[] text = PTX.repeat(50).getBytes(StandardCharsets.US_ASCII);
        byte[] kept = KeptText.kept(text);
        assertTrue(kept.length < text.length / 8, kept.length + " of " + text.length);
        assertArrayEquals(text, KeptText.code(kept));
        byte[] code = new byte[100];
        new Random(7).nextBytes(code);
        code[0] = 0x7f;
        code[1] = 'E';
        assertArrayEquals(code, KeptText.code(KeptText.kept(code)));
        assertThrows(IOException.class, () -> KeptText.code(Arrays.copyOf(kept, kept.length / 2)));
    }
}
