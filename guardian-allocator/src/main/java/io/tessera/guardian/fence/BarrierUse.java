package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which barriers of a block functions wait at. A GPU ends the context when the lanes of one warp wait at two of them, or at
 * one with two counts, in different places of the program (seen on an H200): code that can meet only one need not be
 * watched. Not thread-safe.
 */
final class BarrierUse {
    private final Map<Instruction, InstructionClass> classes;
    private final Set<List<Operand>> everywhere = new HashSet<>();
    private final Set<List<Operand>> inDeviceFunctions = new HashSet<>();

    /** Over all functions of a module, whose instructions are classified. */
    BarrierUse(List<PtxFunction> functions, Map<Instruction, InstructionClass> classes) {
        this.classes = classes;
        for (PtxFunction function : functions) {
            if (function.body().isPresent()) {
                Set<List<Operand>> own = new HashSet<>();
                collect(function.body().get(), own);
                everywhere.addAll(own);
                inDeviceFunctions.addAll(function.kind() == PtxFunction.Kind.FUNC ? own : Set.of());
            }
        }
    }

    /** Whether threads of a kernel that runs this function may wait at different barriers, here or elsewhere. */
    boolean isMixed(PtxFunction function) {
        if (function.kind() == PtxFunction.Kind.FUNC) {
            return isMixed(everywhere);
        }
        Set<List<Operand>> all = new HashSet<>(inDeviceFunctions);
        function.body().ifPresent(body -> collect(body, all));
        return isMixed(all);
    }

    /** What is known only when the kernel runs may be anything. */
    private static boolean isMixed(Set<List<Operand>> barriers) {
        return barriers.size() > 1 || barriers.stream().flatMap(List::stream)
                .anyMatch(operand -> !(operand instanceof Operand.Immediate));
    }

    private void collect(Block block, Set<List<Operand>> into) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Block inner) {
                collect(inner, into);
            } else if (statement instanceof Instruction instruction
                    && classes.get(instruction) instanceof InstructionClass.Barrier) {
                into.add(List.copyOf(BarrierFence.numbers(instruction)));
            }
        }
    }
}
