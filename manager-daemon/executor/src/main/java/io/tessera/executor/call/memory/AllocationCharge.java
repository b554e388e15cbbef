package io.tessera.executor.call.memory;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.window.ClientWindow;

/** The memory that the call in progress takes of its tenant's limit. One owner thread. */
final class AllocationCharge {
    private final ClientCharge charge;
    private final ClientWindow window;
    private long taken;

    AllocationCharge(ClientCharge charge, ClientWindow window) {
        this.charge = charge;
        this.window = window;
    }

    /**
     * Takes memory for the call in progress.
     *
     * @throws RejectedException with OUT_OF_MEMORY if the tenant's limit forbids it
     */
    void take(long bytes) throws RejectedException {
        if (bytes < 0 || !window.attemptWithinLimit(() -> charge.take(bytes))) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "the tenant's limit");
        }
        taken = bytes;
    }

    /** As above, for this many rows. */
    void take(long rowBytes, long rows) throws RejectedException {
        if (rowBytes < 0 || rows < 0 || rows != 0 && rowBytes > Long.MAX_VALUE / rows) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "more than all memory");
        }
        take(rowBytes * rows);
    }

    /** Returns the bytes that the call has taken. */
    long taken() {
        return taken;
    }

    /** Gives back what a failed call has taken. */
    void giveBack() {
        charge.giveBack(taken);
    }

    /** Gives back memory that an earlier call has taken. */
    void giveBack(long bytes) {
        charge.giveBack(bytes);
    }
}
