package io.tessera.guardian.fence.proof;

/**
 * What is taken for granted of the launches of a kernel: whoever runs code that was fenced with it launches it with no other shape.
 * Immutable.
 *
 * @param x threads of a block, first dimension, at most; at least 1
 * @param y second dimension
 * @param z third dimension
 * @param dynamicSharedBytes dynamic shared memory, at least
 */
public record LaunchShape(int x, int y, int z, int dynamicSharedBytes) {
    /** Checks that there is a block. */
    public LaunchShape {
        if (x < 1 || y < 1 || z < 1 || dynamicSharedBytes < 0) {
            throw new IllegalArgumentException("a block of " + x + " x " + y + " x " + z + " threads, " + dynamicSharedBytes
                    + " bytes of shared memory");
        }
    }
}
