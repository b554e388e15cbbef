/**
 * The software GPU against plain Java: vector add, tiled matrix product, reduction and histogram, compiled,
 * interpreted, and as the loop that a Java programmer would write. {@link io.tessera.bench.software.KernelRates} prints
 * PTX instructions per second and core, and the ratios; {@link io.tessera.bench.software.SoftwareGpuBenchmark} holds
 * the measured code.
 */
package io.tessera.bench.software;
