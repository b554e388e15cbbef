package io.tessera.agent.start;

import io.tessera.agent.boot.Counts;
import io.tessera.agent.instrument.Instrumenter;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.function.Supplier;

/**
 * Sees every class that is loaded and compares its name with the few classes of the table: no library, no regular
 * expression, nothing created. Only when the first of them comes is the instrumenter made. Any thread.
 */
final class Watch implements ClassFileTransformer {
    private final String[] names;
    private final Supplier<Instrumenter> maker;
    private volatile Instrumenter instrumenter;

    /** Of internal names of classes. */
    Watch(String[] names, Supplier<Instrumenter> maker) {
        this.names = names;
        this.maker = maker;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] code) {
        if (name == null || loader == null || !watched(name)) {
            return null;
        }
        try {
            return instrumenter().instrument(loader, name, code, redefined != null);
        } catch (Throwable failure) {
            // A transformer's exceptions are dropped by the JVM: the class is loaded as it was. Counted here.
            Counts.suppressed(failure);
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

    private synchronized Instrumenter instrumenter() {
        if (instrumenter == null) {
            instrumenter = maker.get();
        }
        return instrumenter;
    }

    /** Transforms the watched classes that were loaded before this was installed. */
    void takeLoaded(Instrumentation instrumentation) {
        for (Class<?> type : instrumentation.getAllLoadedClasses()) {
            if (type.getClassLoader() != null && watched(type.getName().replace('.', '/'))
                    && instrumentation.isModifiableClass(type)) {
                try {
                    instrumentation.retransformClasses(type);
                } catch (UnmodifiableClassException | RuntimeException | LinkageError failure) {
                    Counts.suppressed(failure);
                }
            }
        }
    }
}
