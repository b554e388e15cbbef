package io.tessera.software.execution;

import io.tessera.software.program.Kernel;

/** Turns a lowered kernel into something that runs: the interpreter, or the compiler. Thread-safe. */
@FunctionalInterface
public interface KernelTranslator {
    /**
     * Translates a kernel.
     *
     * @param kernel    the lowered kernel
     * @param addresses addresses of the module's variables and functions
     * @throws io.tessera.software.program.UnsupportedPtxException if it contains an instruction that cannot be run
     */
    ThreadProgram translate(Kernel kernel, SymbolAddresses addresses);
}
