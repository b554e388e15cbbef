package io.tessera.software.compile.flat;

import io.tessera.software.program.LoweredInstruction;
import java.util.List;

/**
 * One step of flattened code: an instruction of some function in the place where it was inlined, or the form of a call or a return. Targets are indices into
 * {@link InlinedCode#steps()}.
 */
public sealed interface Step {
    /**
     * An instruction.
     *
     * @param instruction as lowered
     * @param slotBase    number that is added to its register slots
     * @param frameBase   number that is added to offsets relative to the frame
     * @param targets     targets of a branch; parallel to the instruction's targets, empty for others
     */
    record Plain(LoweredInstruction instruction, int slotBase, long frameBase, List<Integer> targets) implements Step {
    }

    /** A return to the caller, under the guard of the {@code ret}, which counts slots from {@code slotBase}. */
    record Jump(LoweredInstruction instruction, int slotBase, int target) implements Step {
    }

    /** Bytes of one frame into another: an argument or a result of a call. Offsets into local memory. */
    record Copy(long from, long to, int bytes) implements Step {
    }

    /** A function's frame begins to be used: checks that local memory reaches to {@code frameEnd}. */
    record Enter(long frameEnd) implements Step {
    }

    /** A call under a guard: continues at {@code target} if the guard of {@code instruction} does not hold. */
    record SkipCall(LoweredInstruction instruction, int slotBase, int target) implements Step {
    }
}
