package io.tessera.executor.fence;

import io.tessera.guardian.fence.LaunchCheck;

/** A kernel's second entry in one of the codes of its module, for launches that keep to its terms. One owner thread. */
final class SecondEntry {
    /** Its terms. */
    final LaunchCheck check;
    /** The driver's handle of the code that has it. */
    final long code;
    /** Whether that is a library's. */
    final boolean library;
    /** The driver's function; 0: not asked for yet; below 0: it has none. */
    long found;
    /** The same, if it serves and has what the program has set of the kernel; 0: not asked for since; below 0: it does not serve. */
    long function;

    SecondEntry(LaunchCheck check, long code, boolean library) {
        this.check = check;
        this.code = code;
        this.library = library;
    }
}
