package io.tessera.agent.boot;

import java.util.function.Consumer;

/** Lets a second start of the agent in the same JVM find the first. Any thread. */
public final class Control {
    private static volatile Consumer<String> again;

    private Control() {
    }

    /**
     * Registers the running agent. A second start calls {@code reconfigure} instead of starting another agent.
     *
     * @param reconfigure takes the options of the second start
     */
    public static void running(Consumer<String> reconfigure) {
        again = reconfigure;
    }

    /**
     * Returns the action for a second start.
     *
     * @return the action, or null while no agent runs
     */
    public static Consumer<String> running() {
        return again;
    }
}
