package io.tessera.policy.simulation;

/** The two workloads of TReM's evaluation: how many of a hundred jobs are interactive. Its text has the names the other way round than its table, which holds here. */
public enum TremMix {
    /** As in Google's traces. */
    W1(80),
    /** As in Alibaba's traces. */
    W2(50);

    private final int interactivePercent;

    TremMix(int interactivePercent) {
        this.interactivePercent = interactivePercent;
    }

    /** How many of a hundred jobs are interactive. */
    int interactivePercent() {
        return interactivePercent;
    }
}
