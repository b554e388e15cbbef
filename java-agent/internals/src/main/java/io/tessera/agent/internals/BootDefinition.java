package io.tessera.agent.internals;

import jdk.internal.misc.Unsafe;

/** Defines classes in the bootstrap loader. Needs {@code jdk.internal.misc} exported to the agent's module. */
public final class BootDefinition {
    private BootDefinition() {
    }

    /**
     * Defines a class; its superclass and interfaces must already be defined.
     *
     * @param name internal name
     * @param code class file
     * @throws LinkageError if the JVM has no such entry, or rejects the class
     */
    public static void define(String name, byte[] code) {
        Unsafe.getUnsafe().defineClass(name, code, 0, code.length, null, null);
    }
}
