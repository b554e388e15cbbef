package io.tessera.executor.handle;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The tensor maps that a client had made over memory of its own. A map is 128 bytes that the program keeps itself, so
 * these bytes are what it is known by; one that is not here was made by hand, and leads anywhere. One owner thread.
 */
public final class TensorMaps {
    /** Size of {@code CUtensorMap} (cuda.h). */
    public static final int BYTES = 128;
    /** The oldest are forgotten: programs that make more make them anew before each launch. */
    private static final int MOST = 1 << 16;

    private final Map<ByteBuffer, Long> spans = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Long> eldest) {
            return size() > MOST;
        }
    };

    /** Nothing made yet. */
    public TensorMaps() {
    }

    private static ByteBuffer key(MemorySegment map) {
        return ByteBuffer.wrap(map.asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    /** A map was made that reaches so many bytes. */
    public void made(MemorySegment map, long span) {
        spans.put(key(map), span);
    }

    /** How many bytes from its address on a map reaches; -1: nobody made it for this client. */
    public long span(MemorySegment map) {
        return spans.getOrDefault(key(map), -1L);
    }
}
