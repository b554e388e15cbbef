package io.tessera.memory.residency.simulated;

/**
 * A phase of a program: it frees and allocates, uses the device, and then computes on the host.
 *
 * @param freeChunks     chunks freed at the beginning
 * @param allocateChunks chunks allocated after that
 * @param gpuNs          time of work on the device, if the program has it alone
 * @param hostNs         time before the next phase
 */
public record Phase(int freeChunks, int allocateChunks, long gpuNs, long hostNs) {
}
