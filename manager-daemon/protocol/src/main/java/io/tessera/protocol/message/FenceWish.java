package io.tessera.protocol.message;

import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.util.Optional;

/**
 * How a program asks to be fenced (RELAY_ASK); the manager decides what it gets.
 *
 * @param fence          the fence; empty: the manager's default
 * @param unfenced       what happens to kernels that cannot be fenced; empty: the manager's default
 * @param fenceAlone     whether kernels are fenced also while nobody else is there
 * @param kernelTimeoutS seconds after which a kernel counts as endless; 0: the manager's default
 */
public record FenceWish(Optional<FenceChoice> fence, Optional<UnfencedPolicy> unfenced, boolean fenceAlone,
        int kernelTimeoutS) {
    /** Longest timeout, a year: more is none. */
    public static final int LONGEST_TIMEOUT_S = 31_536_000;

    /** All as the manager likes it. */
    public static FenceWish none() {
        return new FenceWish(Optional.empty(), Optional.empty(), false, 0);
    }
}
