package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Kernels are launched with maps that were encoded, bit for bit. */
class TensorMapsTest {
    @Test
    void onlyWhatWasEncodedPasses() {
        TensorMaps maps = new TensorMaps();
        byte[] map = new byte[TensorMaps.BYTES];
        map[3] = 7;
        maps.add(MemorySegment.ofArray(map), 4096);
        assertEquals(4096, maps.span(MemorySegment.ofArray(map)));
        byte[] parameters = new byte[8 + TensorMaps.BYTES];
        System.arraycopy(map, 0, parameters, 8, map.length);
        MemorySegment packed = MemorySegment.ofArray(parameters);
        assertDoesNotThrow(() -> maps.check(packed, parameters.length, 8));
        assertThrows(ProgramRefusedException.class, () -> maps.check(packed, parameters.length, 0));
        assertThrows(ProgramRefusedException.class, () -> maps.check(packed, parameters.length, 16), "behind the end");
        assertThrows(ProgramRefusedException.class, () -> maps.check(packed, parameters.length, -1));
        parameters[20] ^= 1;
        assertThrows(ProgramRefusedException.class, () -> maps.check(packed, parameters.length, 8));
    }
}
