package io.tessera.software.driver.graph;

import io.tessera.software.driver.work.Operation;

/** Allocates memory whose address is known already; the launch does the accounting, so nothing is left to do here. */
public record MemoryAllocate(AllocationNodeMemory memory) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        return true;
    }
}
