package io.tessera.software.compile;

import io.tessera.software.execution.BlockState;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.util.List;

/** Emits {@code mov} in all its forms and {@code cvta}. */
final class MoveEmitter {
    private final CodeBuilder code;
    private final Registers registers;

    MoveEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case MOV -> {
                if (isWide(instruction.results()) || isWide(instruction.arguments())) {
                    throw new LeftToInterpreterException(instruction.spelling() + " of 128 bits");
                }
                if (instruction.results().size() > 1) {
                    unpack(instruction);
                } else if (instruction.arguments().size() > 1) {
                    pack(instruction);
                } else {
                    move(instruction);
                }
            }
            case CVTA -> convertAddress(instruction);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean isWide(List<LoweredOperand> operands) {
        return operands.stream().anyMatch(operand -> operand instanceof LoweredOperand.Register register
                && register.registerClass() == RegisterClass.BITS128);
    }

    private void move(LoweredInstruction instruction) {
        LoweredOperand source = instruction.argument(0);
        if (instruction.type().bits() == 64) {
            if (instruction.type() == ValueType.F64) {
                registers.pushDouble(source);
                registers.popDouble(instruction.result());
            } else {
                registers.pushLong(source);
                registers.popLong(instruction.result());
            }
        } else if (registers.isFloat(instruction.result())) {
            if (registers.isLoose(instruction.result())) {
                registers.pushFloat(source);
            } else {
                registers.pushExactFloat(source);
            }
            registers.popFloat(instruction.result());
        } else {
            registers.pushInt(source);
            registers.popInt(instruction.result());
        }
    }

    /** Several registers into one, the first lowest. */
    private void pack(LoweredInstruction instruction) {
        int count = instruction.arguments().size();
        int bits = instruction.type().bits() / count;
        code.lconst_0();
        for (int i = 0; i < count; i++) {
            registers.pushLong(instruction.argument(i));
            code.loadConstant((1L << bits) - 1).land();
            if (i > 0) {
                code.loadConstant(i * bits).lshl();
            }
            code.lor();
        }
        registers.popLong(instruction.result());
    }

    /** Moves one register into several, the low bits first. */
    private void unpack(LoweredInstruction instruction) {
        int count = instruction.results().size();
        int bits = instruction.type().bits() / count;
        registers.pushLong(instruction.argument(0));
        code.lstore(ReservedLocals.VALUE);
        for (int i = 0; i < count; i++) {
            if (instruction.results().get(i) instanceof LoweredOperand.Sink) {
                continue;
            }
            code.lload(ReservedLocals.VALUE);
            if (i > 0) {
                code.loadConstant(i * bits).lushr();
            }
            if (bits < 32) {
                code.loadConstant((1L << bits) - 1).land();
            }
            code.l2i();
            registers.popInt(instruction.results().get(i));
        }
    }

    private void convertAddress(LoweredInstruction instruction) {
        if (instruction.space() == AddressSpace.SHARED_CLUSTER) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        registers.pushLong(instruction.argument(0));
        boolean to = instruction.has(Modifier.TO);
        switch (instruction.space()) {
            case GLOBAL, CONST, GENERIC -> {}
            case SHARED -> {
                code.aload(ReservedLocals.BLOCK);
                CallEmitter.get(code, BlockState.class, "sharedBase", long.class);
                addOrSubtract(to);
            }
            case LOCAL -> {
                code.aload(ReservedLocals.THREAD);
                CallEmitter.get(code, ThreadState.class, "localBase", long.class);
                addOrSubtract(to);
            }
            case PARAM -> {
                code.lload(ReservedLocals.PARAMETERS);
                addOrSubtract(to);
            }
            default -> throw new IllegalStateException(instruction.spelling());
        }
        registers.popLong(instruction.result());
    }

    private void addOrSubtract(boolean subtract) {
        if (subtract) {
            code.lsub();
        } else {
            code.ladd();
        }
    }
}
