package io.tessera.policy.simulation;

/**
 * The two workloads of TReM's evaluation, by the percentage of interactive jobs. In TReM's text the two names are exchanged; the names here are those
 * of its table.
 */
public enum TremMix {
    /** As in Google's traces. */
    W1(80),
    /** As in Alibaba's traces. */
    W2(50);

    private final int interactivePercent;

    TremMix(int interactivePercent) {
        this.interactivePercent = interactivePercent;
    }

    /** Returns the percentage of interactive jobs. */
    int interactivePercent() {
        return interactivePercent;
    }
}
