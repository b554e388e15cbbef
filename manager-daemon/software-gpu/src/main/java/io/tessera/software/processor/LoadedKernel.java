package io.tessera.software.processor;

import io.tessera.software.execution.ThreadProgram;
import io.tessera.software.program.Kernel;

/**
 * A kernel that can be launched. Immutable; valid until its module is closed.
 *
 * @param variables of its module
 * @param kernel    the lowered kernel: parameters, shared and local memory, limits
 * @param program   what runs each thread
 */
public record LoadedKernel(LoadedVariables variables, Kernel kernel, ThreadProgram program) {
    /** Returns its name. */
    public String name() {
        return kernel.name();
    }
}
