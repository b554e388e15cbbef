package io.tessera.executor.fence;

import io.tessera.executor.fence.load.MachineCodeFigures;

/**
 * Figures of a client's fences, for {@code tessera status}. Immutable.
 *
 * @param fence       mask, modulo, check
 * @param machineCode images without PTX
 * @param violations  accesses that its kernels were kept from
 * @param alone       launches of code without fences, while the client was alone
 * @param parts       launches of parts of grids
 * @param fewBlocks   launches of code for few blocks
 */
public record FenceFigures(String fence, MachineCodeFigures machineCode, long violations, long alone, long parts, long fewBlocks) {
}
