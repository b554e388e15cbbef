package io.tessera.protocol.message;

import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.util.Optional;

/**
 * A program's request for its fences (RELAY_ASK); the manager decides what it gets.
 *
 * @param fence          the fence; empty: the manager's default
 * @param unfenced       treatment of kernels that cannot be fenced; empty: the manager's default
 * @param fenceAlone     whether kernels are fenced also while no other tenant is there
 * @param kernelTimeoutS seconds after which a kernel counts as endless; 0: the manager's default
 */
public record FenceWish(Optional<FenceChoice> fence, Optional<UnfencedPolicy> unfenced, boolean fenceAlone,
        int kernelTimeoutS) {
    /** Longest timeout, a year; a longer one counts as none. */
    public static final int LONGEST_TIMEOUT_S = 31_536_000;

    /** Returns a request that leaves everything to the manager. */
    public static FenceWish none() {
        return new FenceWish(Optional.empty(), Optional.empty(), false, 0);
    }
}
