package io.tessera.nvidia;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that every kind of argument arrives, in registers and on the stack. */
@Timeout(180)
class EntryBinderTest {
    private static final int NOTES = 16;

    @TempDir
    private Path directory;
    private final Arena arena = Arena.ofConfined();
    private DriverPort port;
    private Slots slots;
    private MemorySegment notes;

    @BeforeEach
    void compile() throws IOException, InterruptedException {
        Path library = directory.resolve("libarguments.so");
        Process gcc = new ProcessBuilder("gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library.toString(),
                Path.of("src/test/c/arguments.c").toAbsolutePath().toString()).inheritIO().start();
        assertTrue(gcc.waitFor(30, TimeUnit.SECONDS) && gcc.exitValue() == 0);
        port = new NvidiaDriver(SymbolLookup.libraryLookup(library, arena), "arguments");
        slots = new Slots(port, arena);
        notes = arena.allocate(ValueLayout.JAVA_LONG, NOTES);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private long note(int index) {
        return notes.getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    @Test
    void floats() {
        assertEquals(11, slots.call(DriverEntry.cuTexRefSetMipmapLevelClamp, notes, 0.25f, -3.5f));
        assertEquals(0.25, notes.getAtIndex(ValueLayout.JAVA_DOUBLE, 0));
        assertEquals(-3.5, notes.getAtIndex(ValueLayout.JAVA_DOUBLE, 1));
    }

    @Test
    void aStructureInOneRegister() {
        MemorySegment location = arena.allocateFrom(ValueLayout.JAVA_INT, 3, 7);
        assertEquals(12, slots.call(DriverEntry.cuMemPrefetchAsync_v2, notes, 1L << 40, location, 5, 0x1234567890L));
        assertEquals(1L << 40, note(0));
        assertEquals(3, note(1));
        assertEquals(7, note(2));
        assertEquals(5, note(3));
        assertEquals(0x1234567890L, note(4));
    }

    @Test
    void aStructureInMemory() {
        byte[] bytes = new byte[64];
        bytes[0] = 17;
        bytes[63] = 42;
        assertEquals(13, slots.call(DriverEntry.cuIpcOpenMemHandle_v2, notes, arena.allocateFrom(ValueLayout.JAVA_BYTE,
                bytes), 9));
        assertEquals(17, note(0));
        assertEquals(42, note(1));
        assertEquals(9, note(2));
    }

    @Test
    void manyArguments() {
        assertEquals(14, slots.call(DriverEntry.cuTensorMapEncodeIm2col, notes, -2, 5, 0x70000000001L, 104, 105, 106, 107,
                108, 109, 110, 111, 112, 113, -114));
        assertEquals(-2, note(0));
        assertEquals(5, note(1));
        assertEquals(0x70000000001L, note(2));
        for (int i = 4; i < 14; i++) {
            assertEquals(100 + i, note(i - 1));
        }
        assertEquals(-114, note(13));
    }

    @Test
    void whatTheDriverLacksIsNotSupported() {
        assertFalse(port.supports(DriverEntry.cuMemAlloc_v2));
        assertTrue(port.supports(DriverEntry.cuIpcOpenMemHandle_v2));
        assertEquals(CudaResult.NOT_SUPPORTED, slots.call(DriverEntry.cuMemAlloc_v2, notes, 1));
    }

    @Test
    void aClosedDriverSaysSo() {
        slots.call(DriverEntry.cuTexRefSetMipmapLevelClamp, notes, 1f, 2f);
        port.close();
        IllegalStateException refusal = assertThrows(IllegalStateException.class,
                () -> slots.call(DriverEntry.cuTexRefSetMipmapLevelClamp, notes, 1f, 2f));
        assertEquals("arguments is closed", refusal.getMessage());
    }

    @Test
    void entriesWithAlikeParametersShareAClass() {
        MemorySegment somewhere = MemorySegment.ofAddress(notes.address());
        EntryBinder.ShapedCall query = shape(somewhere, DriverEntry.cuEventQuery);
        assertSame(query, shape(somewhere, DriverEntry.cuStreamQuery));
        assertNotSame(query, shape(somewhere, DriverEntry.cuEventRecord));
        assertSame(shape(somewhere, DriverEntry.cuMemFree_v2), query);
        assertNotSame(shape(somewhere, DriverEntry.cuTexRefSetMipmapLevelBias), shape(somewhere, DriverEntry.cuEventRecord));
    }

    private static EntryBinder.ShapedCall shape(MemorySegment address, DriverEntry entry) {
        return ((EntryBinder.BoundEntry) EntryBinder.bind(address, EntryDescriptions.of(entry))).shape();
    }

    @Test
    void warmingEndsWhenItIsNotWantedAndCallsNoEntry() {
        int[] asked = new int[1];
        port.warm(() -> asked[0]++ < 3);
        assertTrue(asked[0] > 3, "asked " + asked[0]);
        port.warm(() -> true);
        slots.call(DriverEntry.cuTexRefSetMipmapLevelClamp, notes, 1f, 2f);
        assertEquals(2.0, notes.getAtIndex(ValueLayout.JAVA_DOUBLE, 1));
    }

    /** A description from which no call can be made would otherwise only be noticed when a client first uses the entry. */
    @Test
    void everyDescribedEntryCanBeBound() {
        MemorySegment somewhere = MemorySegment.ofAddress(notes.address());
        long bound = EntryDescriptions.all().stream().filter(EntryDescription::known)
                .map(entry -> EntryBinder.bind(somewhere, entry)).count();
        assertEquals(DriverEntry.values().length - 3, bound);
    }
}
