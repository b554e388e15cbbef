/**
 * The port to an NVIDIA driver: finds the vendor's {@code libcuda.so.1}, opens it by absolute path, and calls its entries through java.lang.foreign as
 * {@link io.tessera.device.EntryDescriptions} describes their parameters.
 */
package io.tessera.nvidia;
