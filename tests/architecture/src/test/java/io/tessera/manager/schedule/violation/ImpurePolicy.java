package io.tessera.manager.schedule.violation;

import java.nio.file.Path;

/** A policy may read neither clock nor file system. */
public final class ImpurePolicy {
    /** Uses both. */
    public long now() {
        return System.nanoTime() + Path.of("/").getNameCount();
    }
}
