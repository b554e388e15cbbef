package io.tessera.executor.pool;

import io.tessera.executor.window.WindowAccess;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;

/** First fit in a range, without any rounding. */
final class ListWindow implements WindowAccess {
    long sizeBytes = 1 << 20;
    final TreeMap<Long, Long> live = new TreeMap<>();

    @Override
    public boolean isAnothers(long address) {
        return false;
    }

    @Override
    public long baseAddress() {
        return 1L << 32;
    }

    @Override
    public long sizeBytes() {
        return sizeBytes;
    }

    @Override
    public long guardBytes() {
        return 0;
    }

    @Override
    public boolean contains(long address, long bytes) {
        return true;
    }

    @Override
    public long allocate(long bytes, long alignment) {
        long at = baseAddress();
        for (Map.Entry<Long, Long> entry : live.entrySet()) {
            if (entry.getKey() - at >= bytes) {
                break;
            }
            at = entry.getKey() + entry.getValue() + 511 & -512;
        }
        if (at + bytes > baseAddress() + sizeBytes) {
            return 0;
        }
        live.put(at, bytes);
        return at;
    }

    @Override
    public void free(long address) {
        if (live.remove(address) == null) {
            throw new IllegalArgumentException("freed twice: " + address);
        }
    }

    @Override
    public int backEverywhere() {
        return 0;
    }

    @Override
    public boolean isBacked() {
        return false;
    }

    @Override
    public int whenQuiet(IntSupplier change) {
        return change.getAsInt();
    }
}
