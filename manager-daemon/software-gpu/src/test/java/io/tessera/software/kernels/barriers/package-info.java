/** Kernels that wait for each other: barriers of blocks and clusters, in memory, and of copies. */
package io.tessera.software.kernels.barriers;
