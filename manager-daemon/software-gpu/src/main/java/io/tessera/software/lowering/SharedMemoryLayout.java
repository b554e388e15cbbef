package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Places of a kernel's shared variables: those of the module and of all functions that it reaches, then the dynamic
 * part, where every array of open size begins.
 */
final class SharedMemoryLayout {
    private final Map<Variable, Integer> offsets = new IdentityHashMap<>();
    private int cursor;
    private int dynamicAlign = 16;

    SharedMemoryLayout(LoweringSymbols program, Reachability reachable, PtxFunction entry) {
        for (String name : reachable.shared()) {
            place(program.sharedVariable(name));
        }
        place(entry.body().orElseThrow());
        for (PtxFunction function : reachable.functions().values()) {
            place(function.body().orElseThrow());
        }
        cursor = cursor + dynamicAlign - 1 & -dynamicAlign;
    }

    private void place(Block block) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Variable variable && variable.space() == StateSpace.SHARED) {
                place(variable);
            }
        }
    }

    private void place(Variable variable) {
        if (isDynamic(variable)) {
            dynamicAlign = Math.max(dynamicAlign, variable.alignment());
            return;
        }
        cursor = cursor + variable.alignment() - 1 & -variable.alignment();
        offsets.put(variable, cursor);
        cursor += Math.toIntExact(variable.sizeBytes());
    }

    private static boolean isDynamic(Variable variable) {
        return !variable.dimensions().isEmpty() && variable.dimensions().getFirst() == Variable.UNSIZED;
    }

    /** Offset of a variable in the block's shared memory. */
    int offset(Variable variable) {
        return isDynamic(variable) ? cursor : offsets.get(variable);
    }

    /** Bytes before the dynamic part, aligned for it where there is one. */
    int staticBytes() {
        return cursor;
    }

    int dynamicAlign() {
        return dynamicAlign;
    }
}
