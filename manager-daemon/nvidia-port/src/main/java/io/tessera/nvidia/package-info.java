/**
 * The port to an NVIDIA driver: finds the vendor's {@code libcuda.so.1}, opens it by absolute path, and calls its entries
 * through java.lang.foreign with what {@link io.tessera.device.EntryDescriptions} says of their parameters.
 */
package io.tessera.nvidia;
