package io.tessera.cli.violation;

import io.tessera.executor.session.Admission;

/** The commands ask the manager alone. */
public final class AsksTheExecutor {
    /** Uses it. */
    public Admission it() {
        return null;
    }
}
