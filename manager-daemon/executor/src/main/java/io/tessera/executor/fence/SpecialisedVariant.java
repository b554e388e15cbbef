package io.tessera.executor.fence;

import io.tessera.guardian.fence.LaunchCheck;

/** A kernel's specialised variant in one of the codes of its module, for launches that keep to its terms. One owner thread. */
final class SpecialisedVariant {
    /** Its name. */
    final String name;
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
    /** The same entry for few blocks; null: it has none, or it is this one. */
    final SpecialisedVariant few;
    /** Registers that one of its threads takes. */
    int registers;
    /** Threads of a block that those allow, at most. */
    int mostThreads;
    /** Shared memory that a launch may ask for. */
    long mostShared;
    /** Local memory of a thread. */
    private int local;

    /** The entry of some terms. */
    SpecialisedVariant(LaunchCheck check, long code, boolean library) {
        this(check, check.entry(), code, library, check.few().isEmpty() ? null : new SpecialisedVariant(check, check.few(), code, library, null));
    }

    private SpecialisedVariant(LaunchCheck check, String name, long code, boolean library, SpecialisedVariant few) {
        this.few = few;
        this.name = name;
        this.check = check;
        this.code = code;
        this.library = library;
    }

    /** What the driver says of its function. */
    void is(KernelAttributes attributes) {
        registers = attributes.get(found, false, KernelAttributes.REGISTERS);
        mostThreads = attributes.get(found, false, KernelAttributes.MOST_THREADS);
        local = attributes.get(found, false, KernelAttributes.LOCAL_BYTES);
    }

    /** Local memory of a thread, in bytes, the most of it and of that for few blocks; 0 while neither was asked for. */
    int localBytes() {
        return few == null ? local : Math.max(local, few.local);
    }

    /** The program has set something of the kernel: it has to be set of the entry, too. */
    void changed() {
        function = 0;
        if (few != null) {
            few.function = 0;
        }
    }
}
