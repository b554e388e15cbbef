package io.tessera.executor.ring;

import java.lang.foreign.MemorySegment;

/** Receives records in ring order. */
@FunctionalInterface
public interface RecordHandler {
    /**
     * Returns whether a record may be handled now. If not, it stays in the ring, and this is called again later.
     *
     * @param record the copy, header first; valid for this call
     * @param length bytes of it, header included
     */
    default boolean admits(MemorySegment record, int length) {
        return true;
    }

    /**
     * Handles one record.
     *
     * @param record the copy, header first; valid for this call
     * @param length its length in bytes, header included
     * @return whether the next record may follow at once
     */
    boolean record(MemorySegment record, int length);
}
