package io.tessera.manager.violation.one;

import io.tessera.manager.violation.other.Second;

/** One half of a cycle of packages. */
public final class First {
    /** Uses the other half. */
    public Second second() {
        return new Second();
    }
}
