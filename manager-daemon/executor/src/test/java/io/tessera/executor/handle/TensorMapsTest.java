package io.tessera.executor.handle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.executor.quota.ClientAccount;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Maps are known by their bits, wherever the program keeps them. */
class TensorMapsTest {
    @Test
    void onlyWhatWasMadeIsKnown() {
        TensorMaps maps = new TensorMaps(ClientAccount.ofItsOwn());
        byte[] map = new byte[TensorMaps.BYTES];
        map[3] = 7;
        maps.made(MemorySegment.ofArray(map), 4096);
        byte[] parameters = new byte[8 + TensorMaps.BYTES];
        System.arraycopy(map, 0, parameters, 8, map.length);
        assertEquals(4096, maps.span(MemorySegment.ofArray(parameters).asSlice(8)));
        assertEquals(-1, maps.span(MemorySegment.ofArray(parameters)));
        parameters[20] ^= 1;
        assertEquals(-1, maps.span(MemorySegment.ofArray(parameters).asSlice(8)));
    }
}
