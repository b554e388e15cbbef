package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.testing.driver.CallInjector;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AssembleJobTest {

    private final List<DriverEntry> called = new ArrayList<>();

    /** A worker's answer if its driver takes every image as a library and returns this result for its module; 0: the library has a module. */
    private Message compiled(int module) {
        CallInjector calls = (entry, slots, driver) -> {
            called.add(entry);
            return entry == DriverEntry.cuLibraryGetModule && module != 0 ? module : driver.call(entry, slots);
        };
        try (Arena arena = Arena.ofConfined()) {
            return AssembleJob.compile(new byte[] {'x', 0}, CodeOptions.none(), new DriverCalls(calls.port(), arena));
        }
    }

    @Test
    void aCompilerThatGaveUpUnnoticedHasNotCompiled() {
        Message answer = compiled(CudaResult.INVALID_PTX);
        assertEquals(CudaResult.INVALID_PTX, answer.numbers().getFirst());
        assertTrue(answer.text().contains("the assembler gave up") && answer.text().contains("TESSERA_WORKER_MEMORY"), answer.text());
        assertEquals(DriverEntry.cuLibraryUnload, called.getLast());
    }

    @Test
    void codeThatFindsNoRoomOnTheDeviceIsCompiled() {
        assertEquals(0, compiled(CudaResult.OUT_OF_MEMORY).numbers().getFirst());
        assertEquals(0, compiled(0).numbers().getFirst());
    }
}
