/** The clock of the software GPU; kernels read it through {@code %clock64} and {@code %globaltimer}. */
package io.tessera.software.clock;
