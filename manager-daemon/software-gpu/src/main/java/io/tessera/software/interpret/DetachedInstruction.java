package io.tessera.software.interpret;

import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.Function;
import io.tessera.software.program.LoweredInstruction;
import java.util.List;

/**
 * One instruction without its function, for compiled kernels that leave a rare one to the interpreter. It neither
 * branches nor waits. Immutable.
 */
public final class DetachedInstruction {
    private final LoweredInstruction instruction;
    private final Function function;
    private final long frameBase;
    private final SymbolAddresses symbols;

    /**
     * Detaches an instruction.
     *
     * @param instruction with its registers numbered from zero
     * @param slots       how many register slots it has
     * @param frameBase   begin of its function's frame, as offset into local memory
     * @param symbols     addresses of its module
     */
    public DetachedInstruction(LoweredInstruction instruction, int slots, long frameBase, SymbolAddresses symbols) {
        this.instruction = instruction;
        this.function = new Function("", List.of(), List.of(), slots, List.of(), 0, List.of(), List.of());
        this.frameBase = frameBase;
        this.symbols = symbols;
    }

    /**
     * Executes it; its guard has been looked at.
     *
     * @param registers raw bits, zero-extended; results are written here
     */
    public void execute(ThreadState thread, long[] registers) {
        Frame frame = new Frame(function, frameBase, null, symbols);
        System.arraycopy(registers, 0, frame.registers, 0, registers.length);
        InterpretedKernel.execute(instruction, frame, thread);
        System.arraycopy(frame.registers, 0, registers, 0, registers.length);
    }
}
