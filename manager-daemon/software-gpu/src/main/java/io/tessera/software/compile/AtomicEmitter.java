package io.tessera.software.compile;

import io.tessera.software.execution.AtomicAccess;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;

/** Emits {@code atom} and {@code red}. */
final class AtomicEmitter {
    private final CodeBuilder code;
    private final Registers registers;
    private final MemoryEmitter memory;

    AtomicEmitter(CodeBuilder code, Registers registers, MemoryEmitter memory) {
        this.code = code;
        this.registers = registers;
        this.memory = memory;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        if (instruction.opcode() != Opcode.ATOM && instruction.opcode() != Opcode.RED) {
            return false;
        }
        ValueType type = instruction.type();
        Modifier operation = instruction.firstOf(Modifier.CAS, Modifier.EXCH, Modifier.ADD, Modifier.INC,
                Modifier.DEC, Modifier.MIN, Modifier.MAX, Modifier.AND, Modifier.OR, Modifier.XOR);
        if (type.bits() > 64 || instruction.types().size() != 1 || operation == null) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        LoweredOperand value = instruction.argument(1);
        if (operation == Modifier.CAS) {
            code.loadConstant(type.bits());
            memory.pushChecked(instruction.space(), instruction.address(), type.bytes());
            pushLong(value, type);
            pushLong(instruction.argument(2), type);
            CallEmitter.invoke(code, AtomicAccess.class, "compareAndSwap", long.class, int.class, long.class, long.class,
                    long.class);
        } else if (operation == Modifier.ADD && type.bits() == 32 && !type.isFloat() && !type.isPacked()) {
            memory.pushChecked(instruction.space(), instruction.address(), type.bytes());
            registers.pushInt(value);
            addInt(instruction);
            return true;
        } else if (AtomicAccess.isFlushed(operation, type, instruction.space())) {
            memory.pushChecked(instruction.space(), instruction.address(), type.bytes());
            pushLong(value, type);
            CallEmitter.invoke(code, AtomicAccess.class, "addFlushed", long.class, long.class, long.class);
        } else {
            CallEmitter.push(code, operation);
            CallEmitter.push(code, type);
            memory.pushChecked(instruction.space(), instruction.address(), type.bytes());
            pushLong(value, type);
            CallEmitter.invoke(code, AtomicAccess.class, "update", long.class, Modifier.class, ValueType.class, long.class,
                    long.class);
        }
        if (instruction.results().isEmpty()) {
            code.pop2();
        } else {
            registers.popLong(instruction.result());
        }
        return true;
    }

    private void pushLong(LoweredOperand operand, ValueType type) {
        if (type.bits() == 64) {
            registers.pushLong(operand);
        } else {
            registers.pushInt(operand);
            registers.zeroExtend();
        }
    }

    private void addInt(LoweredInstruction instruction) {
        boolean own = instruction.space() == AddressSpace.SHARED || instruction.space() == AddressSpace.LOCAL;
        CallEmitter.invoke(code, own ? AccessChecks.class : RealMemory.class, own ? "addOwn" : "getAndAddInt", int.class,
                long.class, int.class);
        if (instruction.results().isEmpty()) {
            code.pop();
        } else {
            registers.popInt(instruction.result());
        }
    }
}
