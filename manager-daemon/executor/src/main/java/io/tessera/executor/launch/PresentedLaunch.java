package io.tessera.executor.launch;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.program.ProgramRefusedException;
import java.lang.foreign.MemorySegment;

/**
 * A launch whose record stays at the head of its client's ring until it is done, and its result. The program can replace the record meanwhile, so a copy
 * tells whether it is still the same. One owner thread.
 */
final class PresentedLaunch {
    private final MemorySegment record;
    private int length;
    private int result;
    private ProgramRefusedException refusal;

    /** @param record memory for a record, which only this object uses */
    PresentedLaunch(MemorySegment record) {
        this.record = record;
    }

    /** Keeps a record, which has no result yet. */
    void begin(MemorySegment launch, int size) {
        length = size;
        MemorySegment.copy(launch, 0, record, 0, size);
        succeeds();
    }

    /** Returns whether a record is the one that was kept. */
    boolean isSame(MemorySegment other, int size) {
        return size == length && MemorySegment.mismatch(record, 0, size, other, 0, size) < 0;
    }

    /** Takes an earlier failure back. */
    void succeeds() {
        ends(CudaResult.SUCCESS);
        refusal = null;
    }

    /** Sets the CUresult. */
    void ends(int code) {
        result = code;
    }

    /** Records that the launch was refused. */
    void refused(ProgramRefusedException why) {
        refusal = why;
    }

    /** Returns whether it has neither failed nor been refused. */
    boolean isGood() {
        return result == CudaResult.SUCCESS && refusal == null;
    }

    /**
     * Returns the CUresult.
     *
     * @throws ProgramRefusedException if the launch was refused
     */
    int result() throws ProgramRefusedException {
        if (refusal != null) {
            throw refusal;
        }
        return result;
    }
}
