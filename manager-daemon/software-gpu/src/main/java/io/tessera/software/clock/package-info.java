/** Where the software GPU's time comes from; kernels read it through {@code %clock64} and {@code %globaltimer}. */
package io.tessera.software.clock;
