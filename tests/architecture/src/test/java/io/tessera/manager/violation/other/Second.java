package io.tessera.manager.violation.other;

import io.tessera.manager.violation.one.First;

/** The other half of a cycle of packages. */
public final class Second {
    /** Uses the first half. */
    public First first() {
        return new First();
    }
}
