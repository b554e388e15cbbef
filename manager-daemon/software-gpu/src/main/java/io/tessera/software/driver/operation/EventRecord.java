package io.tessera.software.driver.operation;

import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;

/** Records an event, as a graph's node: each launch binds a record of its own to the event. */
public record EventRecord(Event event) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        throw new IllegalStateException("a launch replaces this by a record of its own");
    }
}
