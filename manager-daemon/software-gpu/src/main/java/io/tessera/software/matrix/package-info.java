/**
 * Tensor core instructions: what all lanes of a warp compute together from registers of each. {@code WarpSequence} is the entry;
 * {@code MultiplyAdd} is mma, {@code MatrixRows} what loads, stores and transposes 8 x 8 matrices.
 */
package io.tessera.software.matrix;
