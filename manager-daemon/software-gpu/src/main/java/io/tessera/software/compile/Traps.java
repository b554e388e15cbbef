package io.tessera.software.compile;

import io.tessera.software.execution.ThreadState;
import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelTrap;

/** Exceptions that generated code throws. Public for generated classes only. */
public final class Traps {
    private Traps() {
    }

    /** {@code trap}. */
    public static RuntimeException trap() {
        return new KernelTrap(FaultKind.TRAP, "trap");
    }

    /** {@code brx.idx} with an index that has no target. */
    public static RuntimeException wrongIndex() {
        return new KernelTrap(FaultKind.INVALID_PC, "brx.idx with an index beyond its targets");
    }

    /** The state does not come from this program. */
    public static RuntimeException wrongResumePoint(ThreadState thread) {
        return new IllegalStateException("no resume point " + thread.resumePoint);
    }
}
