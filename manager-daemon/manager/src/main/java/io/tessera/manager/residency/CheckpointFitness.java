package io.tessera.manager.residency;

import io.tessera.protocol.segment.SegmentHeader;
import java.util.Optional;

/**
 * Decides whether the driver's checkpoint would restore a process unchanged. A process that has imported memory is taken off its devices and then never
 * restored. Memory that others have imported is restored as a copy, which they no longer see. Memory that was released before does not matter (driver
 * 580 on an H200, {@code tests/gpu/FINDINGS.md}, "Checkpoints by kind of memory"). Memory shared by graphics libraries, and multicast, was not tried
 * and counts as imported. The driver itself refuses managed memory, and the process continues. Stateless.
 */
final class CheckpointFitness {
    private CheckpointFitness() {
    }

    /** Returns why a client that shares memory in this way cannot be checkpointed ({@link SegmentHeader#clientShares}), in a sentence. */
    static Optional<String> against(long shares) {
        if ((shares & SegmentHeader.SHARES_TAKEN) != 0) {
            return Optional.of("it has, or had, memory of other processes or libraries (CUDA IPC, another import, graphics,"
                    + " multicast), with which the driver may never restore it");
        }
        if ((shares & SegmentHeader.SHARES_GIVEN) != 0) {
            return Optional.of("other processes may have its memory (CUDA IPC or another export), which the driver would"
                    + " restore as a copy that they do not see");
        }
        if (Long.compareUnsigned(shares, SegmentHeader.SHARES_CALL) >= 0) {
            return Optional.of("it is about to share memory with other processes");
        }
        return Optional.empty();
    }

    /** Returns whether its memory on the devices may include physical memory of other clients. */
    static boolean hasPieces(long shares) {
        return (shares & SegmentHeader.SHARES_PIECES) != 0;
    }
}
