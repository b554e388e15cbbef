package io.tessera.software.program;

import java.util.List;
import java.util.Map;

/**
 * An entry point with all functions that it can reach. Device functions are lowered again for each kernel, because the layout of shared memory belongs to the
 * kernel.
 *
 * @param entry             the kernel's own code
 * @param functions         device functions that it can reach; {@link LoweredOperand.Function} holds indices into this list
 * @param addressable       names of functions whose address some code or variable of the module takes, with their index into {@code functions}; empty where the
 * kernel makes no indirect call
 * @param parameterBytes    size of the parameter buffer
 * @param staticSharedBytes bytes of shared memory before the dynamic part
 * @param dynamicSharedAlign alignment of the dynamic part, which begins at {@code staticSharedBytes}, already aligned
 * @param localBytes        local memory of one thread for the deepest chain of calls; a recursive or indirect chain counts once, see {@code unboundedStack}
 * @param unboundedStack    whether recursion or an indirect call makes {@code localBytes} only a lower bound
 * @param warpOperations    whether some instruction stops a thread until others arrive
 * @param limits            what the directives of the entry say
 */
public record Kernel(Function entry, List<Function> functions, Map<String, Integer> addressable, int parameterBytes,
        int staticSharedBytes, int dynamicSharedAlign, int localBytes, boolean unboundedStack, boolean warpOperations,
        Limits limits) {
    /** Returns the kernel's name. */
    public String name() {
        return entry.name();
    }

    /**
     * Directives of an entry; zero where a directive is absent.
     *
     * @param maxThreads      {@code .maxntid}, as one product
     * @param requiredThreads {@code .reqntid} per dimension, or zeros
     * @param clusterDim      {@code .reqnctapercluster} per dimension, or zeros
     * @param explicitCluster whether {@code .explicitcluster} was written
     */
    public record Limits(int maxThreads, List<Integer> requiredThreads, List<Integer> clusterDim,
            boolean explicitCluster) {
    }
}
