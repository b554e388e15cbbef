package io.tessera.cli.fence;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Assembles PTX to machine code. Thread-safe. */
interface Assembler {
    /**
     * Result of an assembly.
     *
     * @param machineCode a cubin
     * @param kernels     resources of each kernel, by its name
     */
    record Assembled(byte[] machineCode, Map<String, KernelResources> kernels) {
    }

    /** The assembler rejects the PTX; the message is its first error. */
    final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        RefusedException(String complaint) {
            super(complaint);
        }
    }

    /**
     * Assembles one module.
     *
     * @param ptx     text of the module
     * @param target  target GPU, as a number with its suffix: {@code 90a}
     * @param options further options, each allowed by {@link AssemblerOptions}
     * @throws RefusedException     if the module is not accepted
     * @throws IOException          if the assembler cannot be run
     * @throws InterruptedException if the thread is interrupted
     */
    Assembled assemble(String ptx, String target, List<String> options)
            throws RefusedException, IOException, InterruptedException;
}
