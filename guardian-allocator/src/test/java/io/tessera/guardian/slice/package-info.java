/** Tests of kernels that execute parts of their grids. */
package io.tessera.guardian.slice;
