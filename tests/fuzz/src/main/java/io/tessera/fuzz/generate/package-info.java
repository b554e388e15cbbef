/** Kernels from seeds. */
package io.tessera.fuzz.generate;
