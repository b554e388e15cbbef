package io.tessera.software.interpret;

import io.tessera.software.interpret.pure.PureOperations;
import io.tessera.software.program.Function;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.UnsupportedPtxException;

/**
 * Finds instructions that the software GPU lacks before any runs. Every translator asks it first: what a compiler leaves to the
 * interpreter is lacking when the interpreter lacks it. Stateless.
 */
public final class InstructionCheck {
    /** Largest number of arguments of an instruction without side effects. */
    private static final int ARGUMENTS = 8;

    private InstructionCheck() {
    }

    /**
     * Looks at every instruction of a kernel.
     *
     * @throws UnsupportedPtxException for the first that is lacking
     */
    public static void check(Kernel kernel) {
        check(kernel.entry());
        kernel.functions().forEach(InstructionCheck::check);
    }

    /** Computes each instruction without side effects once with zeros. */
    private static void check(Function function) {
        for (LoweredInstruction instruction : function.code()) {
            try {
                if (InstructionEffects.handles(instruction)) {
                    InstructionEffects.check(instruction);
                } else {
                    PureOperations.compute(instruction, new long[ARGUMENTS]);
                }
            } catch (RuntimeException e) {
                // Mostly UnsupportedOperationException. Others come from unforeseen forms: a missing type, for example, is a missing first element. In a
                // launch they would end the context of all.
                throw new UnsupportedPtxException(function.name(), instruction.spelling(), instruction.line());
            }
        }
    }
}
