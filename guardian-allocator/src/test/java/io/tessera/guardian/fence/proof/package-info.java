/** The lattice against brute force, and what is proved of small kernels. */
package io.tessera.guardian.fence.proof;
