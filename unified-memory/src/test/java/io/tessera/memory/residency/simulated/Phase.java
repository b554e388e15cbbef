package io.tessera.memory.residency.simulated;

/**
 * A stretch of a program: it frees and allocates, uses the device, and then computes on the host.
 *
 * @param freeChunks     freed at the beginning
 * @param allocateChunks allocated after that
 * @param gpuNs          of work on the device, if it has that alone
 * @param hostNs         before the next phase
 */
public record Phase(int freeChunks, int allocateChunks, long gpuNs, long hostNs) {
}
