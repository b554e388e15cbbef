package io.tessera.cli.fence;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Makes machine code of PTX. Thread-safe. */
interface Assembler {
    /**
     * What came of it.
     *
     * @param machineCode a cubin
     * @param kernels     what each kernel takes, by its name
     */
    record Assembled(byte[] machineCode, Map<String, KernelResources> kernels) {
    }

    /** It does not accept the PTX; the message is its first complaint. */
    final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        RefusedException(String complaint) {
            super(complaint);
        }
    }

    /**
     * Assembles one module.
     *
     * @param ptx     its text
     * @param target  for which GPU, as a number with its suffix: {@code 90a}
     * @param options further options, each one that {@link AssemblerOptions} lets through
     * @throws RefusedException     if the module is not accepted
     * @throws IOException          if it cannot be asked
     * @throws InterruptedException if the work is ended meanwhile
     */
    Assembled assemble(String ptx, String target, List<String> options)
            throws RefusedException, IOException, InterruptedException;
}
