package io.tessera.software.driver.graph;

import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Task;

/** Frees memory that an allocation node allocated. */
public record MemoryFree(AllocationNodeMemory memory) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Task task) {
        return true;
    }
}
