package io.tessera.software.compile.flat;

import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;

/** Finds the instructions that stop a thread, or may be part of a loop that waits for other threads. */
public final class WaitingCode {
    private WaitingCode() {
    }

    /** Returns whether the thread stops at the instruction until the scheduler resumes it with a result. */
    public static boolean stops(LoweredInstruction instruction) {
        return switch (instruction.opcode()) {
            case BARRIER_SYNC, BARRIER_RED, CLUSTER_WAIT, WARP_SYNC, SHFL, VOTE, MATCH, REDUX, ELECT, ACTIVEMASK,
                    MMA, LDMATRIX, STMATRIX, MOVMATRIX, NANOSLEEP ->
                true;
            default -> false;
        };
    }

    /** Returns whether a loop with this instruction may turn until another thread changes something. */
    public static boolean observesOthers(LoweredInstruction instruction) {
        return switch (instruction.opcode()) {
            case ATOM, MBARRIER_TEST_WAIT, MBARRIER_TRY_WAIT, CP_ASYNC_WAIT, NANOSLEEP -> true;
            case LD -> instruction.has(Modifier.VOLATILE) || instruction.has(Modifier.RELAXED)
                    || instruction.has(Modifier.ACQUIRE) || instruction.has(Modifier.MMIO)
                    || instruction.has(Modifier.CV);
            default -> false;
        };
    }
}
