package io.tessera.agent.start;

import io.tessera.agent.boot.AgentCounters;
import java.util.function.BooleanSupplier;

/**
 * Flight Recorder, where the JVM has it. The classes that use it are reached by name, so that their absence is no
 * error.
 */
final class Events {
    private static final String INSTALLER = "io.tessera.agent.jfr.EventInstaller";
    private static final String CHECK = "io.tessera.agent.jfr.RecordingCheck";

    private Events() {
    }

    /** Starts passing events on; what it returns is to be run now and then. Null: there is no Flight Recorder. */
    static Runnable install() {
        return (Runnable) make(INSTALLER);
    }

    /** Whether somebody uses Flight Recorder in this JVM. */
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
