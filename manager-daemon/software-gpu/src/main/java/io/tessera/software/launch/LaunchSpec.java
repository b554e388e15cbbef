package io.tessera.software.launch;

/**
 * Parameters of a launch.
 *
 * @param grid               blocks per dimension
 * @param block              threads per dimension of a block
 * @param cluster            blocks per dimension of a cluster, or null for the kernel's own (none by default)
 * @param dynamicSharedBytes shared memory beyond the kernel's own variables
 * @param parameters         the kernel's parameter buffer, in the layout of {@code Kernel.entry().parameters()}; may be shorter than the kernel's, never longer
 * @param cooperative        whether all blocks must be resident at once
 */
public record LaunchSpec(Dim3 grid, Dim3 block, Dim3 cluster, int dynamicSharedBytes, byte[] parameters,
        boolean cooperative) {
    /** A plain launch without clusters. */
    public static LaunchSpec of(Dim3 grid, Dim3 block, int dynamicSharedBytes, byte[] parameters) {
        return new LaunchSpec(grid, block, null, dynamicSharedBytes, parameters, false);
    }
}
