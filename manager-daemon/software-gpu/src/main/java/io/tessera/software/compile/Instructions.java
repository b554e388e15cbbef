package io.tessera.software.compile;

import io.tessera.software.program.Instruction;
import io.tessera.software.program.Kernel;
import java.lang.classfile.CodeBuilder;

/** Emits one instruction that neither branches nor stops: asks each subject in turn. */
final class Instructions {
    private final CodeBuilder code;
    private final IntegerEmitter integers;
    private final BitEmitter bits;
    private final FloatEmitter floats;
    private final HalfEmitter halves;
    private final ComparisonEmitter comparisons;
    private final ConversionEmitter conversions;
    private final MoveEmitter moves;
    private final MemoryEmitter memory;
    private final Stops stops;

    Instructions(CodeBuilder code, Registers registers, Kernel kernel) {
        this.code = code;
        this.integers = new IntegerEmitter(code, registers);
        this.bits = new BitEmitter(code, registers);
        this.floats = new FloatEmitter(code, registers);
        this.halves = new HalfEmitter(code, registers);
        this.comparisons = new ComparisonEmitter(code, registers);
        this.conversions = new ConversionEmitter(code, registers);
        this.moves = new MoveEmitter(code, registers);
        this.memory = new MemoryEmitter(code, registers, kernel);
        this.stops = new Stops(code, registers);
    }

    /**
     * Emits it.
     *
     * @throws NotCompiledException if no subject knows it
     */
    void emit(Instruction instruction) {
        switch (instruction.opcode()) {
            case TRAP -> {
                Calls.invoke(code, Traps.class, "trap", RuntimeException.class);
                code.athrow();
                return;
            }
            case NOP, PMEVENT -> {
                return;
            }
            default -> {
            }
        }
        boolean done = moves.emit(instruction) || memory.emit(instruction) || integers.emit(instruction)
                || floats.emit(instruction) || bits.emit(instruction) || comparisons.emit(instruction)
                || conversions.emit(instruction) || halves.emit(instruction) || stops.arrive(instruction);
        if (!done) {
            throw new NotCompiledException(instruction.spelling());
        }
    }
}
