/**
 * Kernels whose grid is launched in slices, so that others get the GPU between two of them. Start with
 * {@link io.tessera.guardian.slice.GridSlices}.
 */
package io.tessera.guardian.slice;
