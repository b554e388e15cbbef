package io.tessera.agent.start;

import io.tessera.agent.boot.AgentCounters;
import java.util.function.BooleanSupplier;

/**
 * Access to Flight Recorder, if the JVM has it. The classes that use it are looked up by name, so that their absence is not an error.
 */
final class Events {
    private static final String INSTALLER = "io.tessera.agent.jfr.EventInstaller";
    private static final String CHECK = "io.tessera.agent.jfr.RecordingCheck";

    private Events() {
    }

    /** Starts to pass events on, and returns a task that must be run periodically. Null: there is no Flight Recorder. */
    static Runnable install() {
        return (Runnable) make(INSTALLER);
    }

    /** Returns whether Flight Recorder is in use in this JVM. */
    static boolean areWanted() {
        BooleanSupplier check = (BooleanSupplier) make(CHECK);
        return check != null && check.getAsBoolean();
    }

    private static Object make(String type) {
        if (ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) {
            return null;
        }
        try {
            return Class.forName(type, true, Events.class.getClassLoader()).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError failure) {
            AgentCounters.suppressed(failure);
            return null;
        }
    }
}
