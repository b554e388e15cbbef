package io.tessera.agent.instrument;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Classes whose native methods were wrapped while they were loaded. If another agent retransforms them, they must get the same methods. Any
 * thread.
 */
public final class WrappedClasses {
    private final Map<ClassLoader, Set<String>> names = new WeakHashMap<>();

    /** Creates an empty set. */
    public WrappedClasses() {
    }

    /**
     * Adds a class.
     *
     * @param loader the class's
     * @param name its internal name
     */
    public synchronized void add(ClassLoader loader, String name) {
        names.computeIfAbsent(loader, l -> new HashSet<>()).add(name);
    }

    synchronized boolean contains(ClassLoader loader, String name) {
        return names.getOrDefault(loader, Set.of()).contains(name);
    }
}
