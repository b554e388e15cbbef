package io.tessera.agent.boot;

import java.util.function.Consumer;

/** Where a second start of the agent in the same JVM finds the first. Any thread. */
public final class Control {
    private static volatile Consumer<String> again;

    private Control() {
    }

    /**
     * The agent runs; a second start calls this instead of starting twice.
     *
     * @param reconfigure takes the options of the second start
     */
    public static void running(Consumer<String> reconfigure) {
        again = reconfigure;
    }

    /**
     * What to do on a second start.
     *
     * @return it, or null while the agent does not run
     */
    public static Consumer<String> running() {
        return again;
    }
}
