package io.tessera.software.driver.operation;

import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;

/** Waits for an event, as a graph's node: each launch puts its task after the record that the event has then. */
public record EventWait(Event event) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        return true;
    }
}
