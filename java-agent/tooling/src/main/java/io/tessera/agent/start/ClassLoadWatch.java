package io.tessera.agent.start;

import io.tessera.agent.boot.AgentCounters;
import io.tessera.agent.host.AgentLog;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sees every class that is loaded and compares its name with the few classes of the table, without a library, a regular expression or a new
 * object. The instrumenter is created only when the first of them is loaded. Any thread, which may hold any lock of the application and the
 * JDK: no call from here waits for another thread without a bound.
 */
final class ClassLoadWatch implements ClassFileTransformer {
    private static final String FACADE = "io/tessera/Tessera";

    /** Actions for a watched class. */
    interface Recording {
        /** Makes the recorder usable. */
        void record() throws IOException;

        /** Returns a class as an earlier start instrumented it, and makes the recorder usable; null: there was none. */
        byte[] kept(ClassLoader loader, String name, byte[] code) throws IOException;

        /** Returns a class with calls of the recorder in it, and makes the recorder usable; null: there is nothing to do. */
        byte[] instrumented(ClassLoader loader, String name, byte[] code, boolean loaded) throws IOException;
    }

    private final String[] names;
    private final Recording recording;
    private final AtomicBoolean complained = new AtomicBoolean();

    /** Creates a watch for internal names of classes. */
    ClassLoadWatch(String[] names, Recording recording) {
        this.names = names;
        this.recording = recording;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] code) {
        if (name == null || loader == null) {
            return null;
        }
        try {
            if (name.equals(FACADE)) {
                // The application's copy asks for the recorder in the bootstrap loader when it is initialised.
                recording.record();
                return null;
            }
            if (!watched(name)) {
                return null;
            }
            if (redefined == null) {
                byte[] kept = recording.kept(loader, name, code);
                if (kept != null) {
                    return kept;
                }
            }
            return recording.instrumented(loader, name, code, redefined != null);
        } catch (Throwable failure) {
            // A transformer's exceptions are dropped by the JVM: the class is loaded as it was.
            failed(name, failure);
            return null;
        }
    }

    private boolean watched(String name) {
        for (String watched : names) {
            if (watched.equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Logs the first failure only: a cause such as a damaged jar often affects all classes. */
    private void failed(String name, Throwable failure) {
        String line = "does not record " + name + ": " + failure + "; further classes are counted as suppressed";
        try {
            AgentCounters.suppressed(failure);
        } catch (LinkageError noRecorder) {
            line = "not recording, the bootstrap classes are missing: " + noRecorder;
        }
        if (complained.compareAndSet(false, true)) {
            AgentLog.say(line);
        }
    }

    /** Transforms the watched classes that were loaded before this was installed. */
    void takeLoaded(Instrumentation instrumentation) {
        for (Class<?> type : instrumentation.getAllLoadedClasses()) {
            if (type.getClassLoader() != null && watched(type.getName().replace('.', '/'))
                    && instrumentation.isModifiableClass(type)) {
                try {
                    instrumentation.retransformClasses(type);
                } catch (UnmodifiableClassException | RuntimeException | LinkageError failure) {
                    AgentCounters.suppressed(failure);
                }
            }
        }
    }
}
