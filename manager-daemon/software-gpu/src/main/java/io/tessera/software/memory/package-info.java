/**
 * Device memory of the software GPU: a bounded arena outside the Java heap. Device addresses are real addresses of this process, so registered host memory
 * needs no translation, and a map with one byte per granule tells for every address, in one load, whether a kernel may access it.
 * {@link io.tessera.software.memory.RealMemory} does the accesses, {@link io.tessera.software.memory.MemoryMap} the checks,
 * {@link io.tessera.software.memory.DeviceMemory} the bookkeeping.
 */
package io.tessera.software.memory;
