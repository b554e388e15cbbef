package io.tessera.cli.context;

import java.time.Duration;

/** The wait between two polls; tests replace it by one that returns at once. */
@FunctionalInterface
public interface PollPause {
    /**
     * Waits.
     *
     * @throws InterruptedException if the wait is interrupted
     */
    void await(Duration duration) throws InterruptedException;
}
