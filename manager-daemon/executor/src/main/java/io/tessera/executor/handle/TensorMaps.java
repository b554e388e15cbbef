package io.tessera.executor.handle;

import io.tessera.device.CudaLayouts.CUtensorMap;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * The tensor maps that were made for a client, over its own memory. A map consists of 128 bytes that the program keeps, and is
 * recognised by them. A map that is not here was made by hand, and may lead anywhere. One owner thread.
 */
public final class TensorMaps {
    /** Size of a map. */
    public static final int BYTES = CUtensorMap.BYTES;
    private final ClientAccount account;
    private final SequencedMap<ByteBuffer, Long> spans = new LinkedHashMap<>(16, 0.75f, true);

    /** Creates an empty set. */
    public TensorMaps(ClientAccount account) {
        this.account = account;
    }

    private static ByteBuffer key(MemorySegment map) {
        return ByteBuffer.wrap(map.asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * Records a map that reaches this many bytes. At the tenant's maximum the client's oldest map is dropped: programs with that many maps make them again
     * before each launch.
     */
    public void made(MemorySegment map, long span) {
        if (spans.put(key(map), span) == null && account.take(Countable.TENSOR_MAP, 1, 0) != null) {
            spans.pollFirstEntry();
        }
    }

    /** Returns how many bytes, from its address on, a map reaches; -1: it was not made for this client. */
    public long span(MemorySegment map) {
        return spans.getOrDefault(key(map), -1L);
    }
}
