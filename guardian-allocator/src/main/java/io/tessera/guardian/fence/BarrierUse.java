package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which barriers of a block functions wait at, and which of these are {@link NamedBarriers}: with a number of their own, or a count of threads. A GPU ends the context when the lanes of one warp wait at two of them, or at
 * one with two counts, in different places of the program (seen on an H200): code that can meet only one need not be
 * watched. Not thread-safe.
 */
final class BarrierUse {
    /** {@code bar.sync 0} without a count. */
    private static final List<Operand> WHOLE_BLOCK = List.of(Code.number(0));

    private final Map<Instruction, InstructionClass> classes;
    private final Set<List<Operand>> everywhere = new HashSet<>();
    private final Set<List<Operand>> inDeviceFunctions = new HashSet<>();
    private final Map<PtxFunction, Set<List<Operand>>> own = new IdentityHashMap<>();
    private final boolean contained;

    /**
     * Over all functions of a module, whose instructions are classified.
     *
     * @param contained whether barriers have to be such that the stop word ends who waits
     */
    BarrierUse(List<PtxFunction> functions, Map<Instruction, InstructionClass> classes, boolean contained) {
        this.classes = classes;
        this.contained = contained;
        for (PtxFunction function : functions) {
            if (function.body().isPresent()) {
                Set<List<Operand>> barriers = new HashSet<>();
                collect(function.body().get(), barriers);
                own.put(function, barriers);
                everywhere.addAll(barriers);
                inDeviceFunctions.addAll(function.kind() == PtxFunction.Kind.FUNC ? barriers : Set.of());
            }
        }
    }

    /** Whether an instruction waits at a barrier in shared memory. One whose number is also used with a count is one, or the two would not meet. */
    boolean isNamed(Instruction barrier) {
        return contained && isNamed(BarrierFence.numbers(barrier));
    }

    private boolean isNamed(List<Operand> barrier) {
        return !barrier.equals(WHOLE_BLOCK) || everywhere.stream().anyMatch(other -> !other.equals(WHOLE_BLOCK)
                && (other.getFirst().equals(WHOLE_BLOCK.getFirst()) || !(other.getFirst() instanceof Operand.Immediate)));
    }

    /** Whether a function, or a device function that it may call, waits at such a barrier. */
    boolean hasNamed(PtxFunction function) {
        return contained && all(function).stream().anyMatch(this::isNamed);
    }

    /** Whether threads of a kernel that runs this function may wait at different barriers, here or elsewhere. */
    boolean isMixed(PtxFunction function) {
        return hasNamed(function) || isMixed(all(function));
    }

    private Set<List<Operand>> all(PtxFunction function) {
        if (function.kind() == PtxFunction.Kind.FUNC) {
            return everywhere;
        }
        Set<List<Operand>> all = new HashSet<>(inDeviceFunctions);
        all.addAll(own.getOrDefault(function, Set.of()));
        return all;
    }

    /** What is known only when the kernel runs may be anything. */
    private static boolean isMixed(Set<List<Operand>> barriers) {
        return barriers.size() > 1 || barriers.stream().flatMap(List::stream)
                .anyMatch(operand -> !(operand instanceof Operand.Immediate));
    }

    private void collect(Block block, Set<List<Operand>> into) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction instruction
                    && classes.get(instruction) instanceof InstructionClass.Barrier) {
                into.add(List.copyOf(BarrierFence.numbers(instruction)));
            }
        }
    }
}
