package io.tessera.software.driver.graph;

import io.tessera.software.driver.work.Operation;

/** Frees memory that an allocation node allocated. */
public record MemoryFree(AllocationNodeMemory memory) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        return true;
    }
}
