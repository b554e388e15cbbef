package io.tessera.software.program;

import java.util.Map;
import java.util.Set;

/** A module: variables to lay out, and kernels lowered when asked for. Thread-safe. */
public interface LoweredProgram {
    /** Variables in global and constant memory, by name, in the order of the text. */
    Map<String, ModuleVariable> variables();

    /** Those of the variables that are texture and surface references: kernels name them by their addresses. */
    Map<String, ReferenceKind> references();

    /** Names of the kernels. */
    Set<String> kernelNames();

    /** Names of the device functions that have a body; each gets a code address when the module is loaded. */
    Set<String> functionNames();

    /**
     * Lowers a kernel with all functions that it can reach. Returns the same object at every call.
     *
     * @throws UnsupportedPtxException if it contains an instruction that the software GPU lacks
     * @throws java.util.NoSuchElementException if there is no such kernel
     */
    Kernel kernel(String name);
}
