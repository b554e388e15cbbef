package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ModuleImage;
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
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a driver is asked when programs are made, kept, loaded and ended, over a driver that writes down what it is asked. */
class ProgramMakerTest {
    private static final int ERROR_LOG = 5;
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
    private static final Target COMPILES = new Target(new ComputeCapability(9, 0), "driver 13000 1", true);
    /** Another option, so another program: a limit of registers. */
    private static final CodeOptions FEWER = new CodeOptions(List.of(0), List.of(32L));

    @TempDir
    Path folder;

    /** It knows what programs need, and may refuse one entry. */
    private static final class Recorder implements DriverPort {
        private final List<DriverEntry> asked = new ArrayList<>();
        private final List<Long> registers = new ArrayList<>();
        private DriverEntry refused;
        private long next = 0x100;
        private String text = "";

        @Override
        public String name() {
            return "recorder";
        }

        @Override
        public boolean software() {
            return false;
        }

        @Override
        public boolean supports(DriverEntry entry) {
            return true;
        }

        @Override
        public int call(DriverEntry entry, MemorySegment slots) {
            asked.add(entry);
            if (entry == DriverEntry.cuLibraryLoadData) {
                text = memory(slot(slots, 1), 1 << 20).getString(0);
                options(slots);
            }
            if (entry == refused) {
                return ProgramRefusedException.INVALID_PTX;
            }
            if (entry == DriverEntry.cuLibraryLoadData || entry == DriverEntry.cuLibraryGetModule || entry == DriverEntry.cuModuleLoadData) {
                memory(slot(slots, 0), Long.BYTES).set(ValueLayout.JAVA_LONG, 0, next++);
            }
            return CudaResult.SUCCESS;
        }

        @Override
        public void close() {
            // it has nothing
        }

        private void options(MemorySegment slots) {
            MemorySegment numbers = memory(slot(slots, 2), Integer.BYTES * slot(slots, 4));
            MemorySegment values = memory(slot(slots, 3), Long.BYTES * slot(slots, 4));
            for (int i = 0; i < slot(slots, 4); i++) {
                int number = numbers.getAtIndex(ValueLayout.JAVA_INT, i);
                long value = values.getAtIndex(ValueLayout.JAVA_LONG, i);
                if (number == 0) {
                    registers.add(value);
                } else if (number == ERROR_LOG && refused == DriverEntry.cuLibraryLoadData) {
                    memory(value, 64).setString(0, "ptxas: line 7: no");
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

    private ProgramMaker maker() throws IOException {
        return new ProgramMaker(COMPILES, CodeCache.open(folder.resolve("code"), 1 << 24, () -> Instant.EPOCH, line -> {
            throw new AssertionError(line);
        }));
    }

    private static ProgramSource source() {
        return ProgramSource.of(ModuleImage.of(PTX.getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void aModuleIsCompiledOnceAndKeptAsText() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Recorder port = new Recorder();
            DriverCalls driver = new DriverCalls(port, arena);
            ProgramMaker maker = maker();
            FencedProgram made = maker.make(source(), FenceMode.MASK, CodeOptions.none(), false, driver);
            assertEquals(List.of(DriverEntry.cuLibraryLoadData, DriverEntry.cuLibraryUnload), port.asked);
            assertTrue(port.text.contains(".entry work") && port.text.contains("__tessera_window"), port.text);
            assertEquals(0, made.code()[made.code().length - 1]);
            assertEquals(made, maker.make(source(), FenceMode.MASK, CodeOptions.none(), false, driver));
            FencedProgram found = maker().make(source(), FenceMode.MASK, CodeOptions.none(), false, driver);
            assertTrue(found.cached());
            assertArrayEquals(made.code(), found.code());
            assertEquals(2, port.asked.size(), "found, not compiled");
            maker.make(source(), FenceMode.MASK, FEWER, false, driver);
            assertEquals(List.of(32L), port.registers);
        }
    }

    @Test
    void whatTheCompilerRefusesIsToldInItsWordsAndNotKept() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Recorder port = new Recorder();
            DriverCalls driver = new DriverCalls(port, arena);
            port.refused = DriverEntry.cuLibraryLoadData;
            ProgramRefusedException why = assertThrows(ProgramRefusedException.class,
                    () -> maker().make(source(), FenceMode.MASK, CodeOptions.none(), false, driver));
            assertEquals("ptxas: line 7: no", why.getMessage());
            assertEquals(ProgramRefusedException.INVALID_PTX, why.result());
            port.refused = null;
            assertFalse(maker().make(source(), FenceMode.MASK, CodeOptions.none(), false, driver).cached());
        }
    }

    @Test
    void textIsLoadedAsALibraryAlsoWhereAModuleIsWanted() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Recorder port = new Recorder();
            DriverCalls driver = new DriverCalls(port, arena);
            FencedProgram program = new FencedProgram((PTX + "\0").getBytes(StandardCharsets.US_ASCII), List.of(), "", false);
            LoadedCode module = ProgramLoader.load(program, false, FEWER, driver);
            LoadedCode library = ProgramLoader.load(program, true, FEWER, driver);
            assertEquals(List.of(DriverEntry.cuLibraryLoadData, DriverEntry.cuLibraryGetModule, DriverEntry.cuLibraryLoadData), port.asked);
            assertEquals(List.of(32L, 32L), port.registers);
            assertEquals(new LoadedCode(0x101, false, 0x100), module);
            assertEquals(new LoadedCode(0x102, true, 0), library);
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
            DriverCalls driver = new DriverCalls(port, arena);
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
            FencedProgram program = new FencedProgram(PTX.getBytes(StandardCharsets.US_ASCII), List.of(), "", false);
            assertThrows(ProgramRefusedException.class,
                    () -> ProgramLoader.load(program, false, CodeOptions.none(), new DriverCalls(port, arena)));
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
