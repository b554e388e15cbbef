package io.tessera.software.interpret;

import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadProgram;
import io.tessera.software.program.Function;
import io.tessera.software.program.Instruction;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.UnsupportedPtxException;
import java.util.NoSuchElementException;

/** Makes kernels run by interpretation. Stateless. */
public final class Interpreter implements KernelTranslator {
    /** Largest number of arguments of an instruction without side effects. */
    private static final int ARGUMENTS = 8;

    @Override
    public ThreadProgram translate(Kernel kernel, SymbolAddresses addresses) {
        check(kernel.entry());
        kernel.functions().forEach(Interpreter::check);
        return new InterpretedKernel(kernel, addresses);
    }

    /** Finds instructions that the interpreter lacks before any runs: computes each once with zeros. */
    private static void check(Function function) {
        for (Instruction instruction : function.code()) {
            try {
                if (Effects.handles(instruction)) {
                    Effects.check(instruction);
                } else {
                    PureOperations.compute(instruction, new long[ARGUMENTS]);
                }
            } catch (UnsupportedOperationException | NoSuchElementException e) {
                // A missing type shows as a missing first element: the instruction has no such form.
                throw new UnsupportedPtxException(function.name(), instruction.spelling(), instruction.line());
            }
        }
    }
}
