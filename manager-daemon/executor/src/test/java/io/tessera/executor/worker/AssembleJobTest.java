package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fake.CallsAlone;
import io.tessera.executor.jit.CodeOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AssembleJobTest {

    private final List<DriverEntry> called = new ArrayList<>();

    /** A worker's answer if its driver takes every image as a library and returns this for the module. */
    private Message compiled(int module) {
        CallsAlone port = (entry, slots) -> {
            called.add(entry);
            if (entry == DriverEntry.cuLibraryLoadData || entry == DriverEntry.cuLibraryGetModule && module == 0) {
                MemorySegment.ofAddress(slots.get(ValueLayout.JAVA_LONG, 0)).reinterpret(Long.BYTES).set(ValueLayout.JAVA_LONG, 0, 77);
            }
            return entry == DriverEntry.cuLibraryGetModule ? module : 0;
        };
        try (Arena arena = Arena.ofConfined()) {
            return AssembleJob.compile(new byte[] {'x'}, CodeOptions.none(), new DriverCalls(port, arena));
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
