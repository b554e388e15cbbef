package io.tessera.software.driver.operation;

import io.tessera.software.driver.work.Operation;

/** Does nothing: joins what it waits for. */
public record Nothing() implements Operation {
    /** The one there is. */
    public static final Nothing INSTANCE = new Nothing();

    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        return true;
    }
}
