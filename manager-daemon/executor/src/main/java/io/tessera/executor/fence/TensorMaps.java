package io.tessera.executor.fence;

import io.tessera.executor.driver.CudaResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tensor maps that were encoded for a client, over memory of its own. A map is 128 bytes that the program keeps and passes
 * by value: what a kernel is launched with has to be one of them. One owner thread.
 */
final class TensorMaps {
    /** {@code sizeof(CUtensorMap)}. */
    static final int BYTES = 128;
    /** Programs make one for each matrix, and many again and again. */
    private static final int MOST = 1 << 16;

    private final Map<Content, Long> maps = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Content, Long> eldest) {
            return size() > MOST;
        }
    };

    private record Content(long[] words) {
        static Content of(MemorySegment from, long at) {
            return new Content(from.asSlice(at, BYTES).toArray(ValueLayout.JAVA_LONG_UNALIGNED));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Content that && Arrays.equals(words, that.words);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(words);
        }
    }

    /** One was encoded. */
    void add(MemorySegment map, long spanBytes) {
        maps.put(Content.of(map, 0), spanBytes);
    }

    /** Bytes that one spans; -1: it was not encoded for the client. */
    long span(MemorySegment map) {
        return maps.getOrDefault(Content.of(map, 0), -1L);
    }

    /** Refuses a launch whose parameters hold another one. */
    void check(MemorySegment parameters, long bytes, long at) throws ProgramRefusedException {
        boolean there = at >= 0 && at + BYTES <= bytes;
        if (!there || maps.get(Content.of(parameters, at)) == null) {
            throw new ProgramRefusedException(CudaResult.INVALID_VALUE, "a tensor map that was not encoded for it");
        }
    }
}
