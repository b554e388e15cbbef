package io.tessera.agent.host;

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;

/** Opens single packages of {@code java.base} to the agent's own loader, and to nobody else. */
public final class JavaBase {
    private JavaBase() {
    }

    /**
     * Exports a package to the agent's module.
     *
     * @param instrumentation the JVM's
     * @param name the package
     */
    public static void export(Instrumentation instrumentation, String name) {
        instrumentation.redefineModule(Object.class.getModule(), Set.of(),
                Map.of(name, Set.of(JavaBase.class.getModule())), Map.of(), Set.of(), Map.of());
    }
}
