package io.tessera.software.interpret;

import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadProgram;
import io.tessera.software.program.Kernel;

/** Makes kernels run by interpretation. Stateless. */
public final class Interpreter implements KernelTranslator {
    @Override
    public ThreadProgram translate(Kernel kernel, SymbolAddresses addresses) {
        InstructionCheck.check(kernel);
        return new InterpretedKernel(kernel, addresses);
    }
}
