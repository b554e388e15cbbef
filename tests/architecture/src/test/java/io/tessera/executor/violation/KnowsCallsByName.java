package io.tessera.executor.violation;

import io.tessera.device.DriverEntry;

/** A second meaning of a call, beside the tables. */
public final class KnowsCallsByName {
    /** What it means here. */
    public int it(DriverEntry entry) {
        return switch (entry) {
            case cuStreamCreate -> 1;
            default -> 0;
        };
    }
}
