package io.tessera.software.compile;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;

/** Emits two-way choices. */
final class BranchEmitter {
    private BranchEmitter() {
    }

    /** Emits {@code taken} for where the jump is taken, and {@code other} for where it is not. */
    static void choose(CodeBuilder code, Opcode jump, Runnable taken, Runnable other) {
        Label yes = code.newLabel();
        Label end = code.newLabel();
        code.with(BranchInstruction.of(jump, yes));
        other.run();
        code.goto_(end).labelBinding(yes);
        taken.run();
        code.labelBinding(end);
    }

    /** Pushes 1 where the jump is taken, else 0. */
    static void truth(CodeBuilder code, Opcode jump) {
        choose(code, jump, code::iconst_1, code::iconst_0);
    }
}
