package io.tessera.agent.start;

import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Identifies builds of the agent. */
final class Build {
    private static final long FACTOR = 0x9E3779B97F4A7C15L;

    private Build() {
    }

    /** Returns a number computed from the checksums of all entries of the agent's jar. */
    static long of(JarFile jar) {
        long build = 0;
        for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements();) {
            JarEntry entry = entries.nextElement();
            build = Long.rotateLeft(build * FACTOR, 31) + entry.getName().hashCode() + entry.getCrc();
        }
        return build;
    }
}
