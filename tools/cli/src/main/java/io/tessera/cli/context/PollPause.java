package io.tessera.cli.context;

import java.time.Duration;

/** Time that passes between two looks at something; tests let it pass at once. */
@FunctionalInterface
public interface PollPause {
    /**
     * Waits.
     *
     * @throws InterruptedException if somebody ends the wait
     */
    void await(Duration duration) throws InterruptedException;
}
