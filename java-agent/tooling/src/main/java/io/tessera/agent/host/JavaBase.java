package io.tessera.agent.host;

import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Exports single packages of {@code java.base} to the agent's own loader only. */
public final class JavaBase {
    private JavaBase() {
    }

    /**
     * Exports packages to the agent's module.
     *
     * @param instrumentation the JVM's
     * @param names the packages
     */
    public static void export(Instrumentation instrumentation, String... names) {
        Map<String, Set<Module>> exports = new HashMap<>();
        for (String name : names) {
            if (Object.class.getModule().getPackages().contains(name)) {
                exports.put(name, Set.of(JavaBase.class.getModule()));
            }
        }
        instrumentation.redefineModule(Object.class.getModule(), Set.of(), exports, Map.of(), Set.of(), Map.of());
    }
}
