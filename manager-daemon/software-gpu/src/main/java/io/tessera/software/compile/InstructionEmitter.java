package io.tessera.software.compile;

import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.compile.flat.Step;
import io.tessera.software.execution.DeviceRuntime;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredInstruction;
import java.lang.classfile.CodeBuilder;

/** Emits one instruction that neither branches nor stops: tries each emitter in sequence. */
final class InstructionEmitter {
    private final CodeBuilder code;
    private final IntegerEmitter integers;
    private final BitEmitter bits;
    private final FloatEmitter floats;
    private final HalfEmitter halves;
    private final ComparisonEmitter comparisons;
    private final ConversionEmitter conversions;
    private final MoveEmitter moves;
    private final MemoryEmitter memory;
    private final AtomicEmitter atomics;
    private final InterpretedEmitter interpreted;
    private final StopEmitter stops;
    private final Registers registers;
    private final ClassConstants constants;

    InstructionEmitter(CodeBuilder code, Registers registers, Kernel kernel, ClassConstants constants,
            SymbolAddresses addresses) {
        this.code = code;
        this.registers = registers;
        this.constants = constants;
        this.integers = new IntegerEmitter(code, registers);
        this.bits = new BitEmitter(code, registers);
        this.floats = new FloatEmitter(code, registers);
        this.halves = new HalfEmitter(code, registers);
        this.comparisons = new ComparisonEmitter(code, registers);
        this.conversions = new ConversionEmitter(code, registers);
        this.moves = new MoveEmitter(code, registers);
        this.memory = new MemoryEmitter(code, registers, kernel);
        this.interpreted = new InterpretedEmitter(code, registers, constants, addresses);
        this.atomics = new AtomicEmitter(code, registers, memory);
        this.stops = new StopEmitter(code, registers, constants);
    }

    /**
     * Emits it.
     *
     * @throws NotCompiledException if neither a subject nor the interpreter can do it here
     */
    void emit(Step.Plain step) {
        LoweredInstruction instruction = step.instruction();
        switch (instruction.opcode()) {
            case TRAP -> {
                CallEmitter.invoke(code, Traps.class, "trap", RuntimeException.class);
                code.athrow();
                return;
            }
            case CALL_RUNTIME -> {
                code.aload(ReservedLocals.THREAD);
                constants.push(code, instruction, LoweredInstruction.class);
                code.loadConstant(registers.frameBase());
                CallEmitter.invoke(code, DeviceRuntime.class, "call", void.class, ThreadState.class, LoweredInstruction.class,
                        long.class);
                return;
            }
            case NOP, PMEVENT -> {
                return;
            }
            default -> {}
        }
        try {
            if (bySubject(instruction)) {
                return;
            }
        } catch (LeftToInterpreterException e) {
            // Thrown before anything is emitted.
        }
        interpreted.emit(step);
    }

    private boolean bySubject(LoweredInstruction instruction) {
        return moves.emit(instruction) || memory.emit(instruction) || integers.emit(instruction)
                || floats.emit(instruction) || bits.emit(instruction) || comparisons.emit(instruction)
                || conversions.emit(instruction) || halves.emit(instruction) || stops.arrive(instruction)
                || atomics.emit(instruction);
    }
}
