/**
 * Kernels whose grid is launched in slices, so that other clients can use the GPU between two slices. Start with {@link
 * io.tessera.guardian.slice.GridSlices}.
 */
package io.tessera.guardian.slice;
