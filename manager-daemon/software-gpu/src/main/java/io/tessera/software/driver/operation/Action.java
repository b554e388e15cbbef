package io.tessera.software.driver.operation;

import io.tessera.software.driver.work.Operation;

/**
 * The driver's own bookkeeping in stream order: gives back what the work before it used. Runs also where the context
 * is lost.
 *
 * @param body short, and never blocking
 */
public record Action(Runnable body) implements Operation {
    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        body.run();
        return true;
    }

    @Override
    public boolean runsAfterFault() {
        return true;
    }
}
