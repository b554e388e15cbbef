package io.tessera.cli.fence;

/**
 * Resources of a multiprocessor that a kernel uses, as reported by the assembler. Immutable.
 *
 * @param registers  registers of a thread
 * @param stackBytes local memory of a thread, spills included
 * @param spillBytes bytes of registers that are stored to local memory and loaded again, both counted
 */
public record KernelResources(int registers, int stackBytes, int spillBytes) {
}
