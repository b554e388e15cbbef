package io.tessera.software.program;

import java.util.List;

/**
 * The code of a kernel or a device function.
 *
 * @param name       its name
 * @param parameters for a kernel: places in the parameter buffer; for a device function: places in its frame, where the
 *                   caller has put the arguments before the first instruction runs
 * @param results    places in the frame from which the caller takes the results after {@code ret}; empty for a kernel
 * @param slots      number of 64-bit register slots
 * @param registers  class by slot; null at the second slot of a 128-bit register
 * @param frameBytes size of the frame in local memory: local variables, arguments, results; a multiple of 16
 * @param code       instructions; the last one never falls through
 * @param blocks     basic blocks in the order of the code, which they cover
 */
public record Function(String name, List<Parameter> parameters, List<Parameter> results, int slots,
        List<RegisterClass> registers, int frameBytes, List<LoweredInstruction> code, List<BasicBlock> blocks) {
}
