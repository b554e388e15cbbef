package io.tessera.agent.start;

import io.tessera.agent.boot.Counts;

/**
 * Flight Recorder, where the JVM has it. The classes that use it are reached by name, so that their absence is no
 * error.
 */
final class Events {
    private static final String INSTALLER = "io.tessera.agent.jfr.EventInstaller";

    private Events() {
    }

    /** Starts passing events on; what it returns is to be run now and then. Null: there is no Flight Recorder. */
    static Runnable install() {
        if (ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) {
            return null;
        }
        try {
            return (Runnable) Class.forName(INSTALLER, true, Events.class.getClassLoader()).getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | LinkageError failure) {
            Counts.suppressed(failure);
            return null;
        }
    }
}
