package io.tessera.software.compile;

import io.tessera.software.execution.BlockState;
import io.tessera.software.execution.GridState;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.memory.MemoryMap;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.util.List;

/**
 * Emits {@code ld}, {@code st}, fences and what only advises caches. Vectors of up to eight bytes are one access:
 * hardware does not tear them, and programs rely on that (CUB's scan keeps a status and a value in one).
 */
final class MemoryEmitter {
    private static final Class<?> MEMORY = RealMemory.class;

    private final CodeBuilder code;
    private final Registers registers;
    private final Kernel kernel;

    MemoryEmitter(CodeBuilder code, Registers registers, Kernel kernel) {
        this.code = code;
        this.registers = registers;
        this.kernel = kernel;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case LD, LDU -> load(instruction);
            case ST -> store(instruction);
            case FENCE -> CallEmitter.invoke(code, MEMORY, "fence", void.class);
            case PREFETCH, PREFETCHU, APPLYPRIORITY -> {}
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Pushes the real address of an access, checked. */
    void pushChecked(AddressSpace space, LoweredOperand.Address address, int bytes) {
        switch (space) {
            case GENERIC, GLOBAL, CONST -> {
                registers.pushAddress(address);
                code.aload(ReservedLocals.MAP).loadConstant(bytes);
                CallEmitter.invoke(code, AccessChecks.class, "checked", long.class, long.class,
                        MemoryMap.class, int.class);
            }
            case SHARED, SHARED_CLUSTER -> {
                code.aload(ReservedLocals.BLOCK);
                registers.pushAddress(address);
                code.loadConstant(bytes);
                CallEmitter.invokeVirtual(code, BlockState.class, space == AddressSpace.SHARED ? "shared" : "sharedCluster",
                        long.class, long.class, int.class);
            }
            case LOCAL -> {
                code.aload(ReservedLocals.THREAD);
                registers.pushAddress(address);
                code.loadConstant(bytes);
                CallEmitter.invokeVirtual(code, ThreadState.class, "local", long.class, long.class, int.class);
            }
            case PARAM -> {
                Long constant = registers.constantAddress(address);
                if (constant != null && constant % bytes == 0 && constant >= 0
                        && constant + bytes <= kernel.parameterBytes()) {
                    code.lload(ReservedLocals.PARAMETERS).loadConstant((long) constant).ladd();
                } else {
                    code.aload(ReservedLocals.GRID);
                    registers.pushAddress(address);
                    code.loadConstant(bytes);
                    CallEmitter.invokeVirtual(code, GridState.class, "parameter", long.class, long.class, int.class);
                }
            }
        }
    }

    private static ValueType elementType(LoweredInstruction instruction) {
        ValueType type = instruction.type();
        if (type.bits() > 64) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        return type;
    }

    /** Returns whether a vector is one access; those of 16 bytes that have an order are the interpreter's. */
    private static boolean isOneWord(LoweredInstruction instruction, ValueType type, int elements) {
        int bytes = type.bytes() * elements;
        if (bytes > 8 && isOrdered(instruction)) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        return elements > 1 && bytes <= 8;
    }

    private static boolean isOrdered(LoweredInstruction instruction) {
        return instruction.firstOf(Modifier.VOLATILE, Modifier.RELAXED, Modifier.ACQUIRE, Modifier.RELEASE,
                Modifier.MMIO) != null;
    }

    private void load(LoweredInstruction instruction) {
        ValueType type = elementType(instruction);
        List<LoweredOperand> results = instruction.results();
        boolean word = isOneWord(instruction, type, results.size());
        pushChecked(instruction.space(), instruction.address(), type.bytes() * results.size());
        if (word) {
            loadWord(instruction, type, results);
            return;
        }
        if (results.size() > 1) {
            code.lstore(ReservedLocals.ADDRESS);
        }
        for (int i = 0; i < results.size(); i++) {
            if (results.size() > 1) {
                pushElementAddress(i, type);
            }
            get(type, isOrdered(instruction));
            popLoaded(results.get(i), type);
        }
    }

    private void loadWord(LoweredInstruction instruction, ValueType type, List<LoweredOperand> results) {
        ValueType whole = wordType(type, results.size());
        get(whole, isOrdered(instruction));
        if (whole.bits() < 64) {
            code.i2l();
        }
        code.lstore(ReservedLocals.VALUE);
        for (int i = 0; i < results.size(); i++) {
            code.lload(ReservedLocals.VALUE).loadConstant(i * type.bits()).lushr().l2i();
            narrow(type);
            popLoaded(results.get(i), type);
        }
    }

    private static ValueType wordType(ValueType type, int elements) {
        return switch (type.bytes() * elements) {
            case 2 -> ValueType.U16;
            case 4 -> ValueType.U32;
            default -> ValueType.U64;
        };
    }

    /** Extends the low bits of an int as a load does. */
    private void narrow(ValueType type) {
        if (type.bytes() == 1) {
            if (type.isSigned()) {
                code.i2b();
            } else {
                code.loadConstant(0xff).iand();
            }
        } else if (type.bytes() == 2) {
            if (type.isSigned()) {
                code.i2s();
            } else {
                code.i2c();
            }
        }
    }

    private void pushElementAddress(int place, ValueType type) {
        code.lload(ReservedLocals.ADDRESS);
        if (place > 0) {
            code.loadConstant((long) place * type.bytes()).ladd();
        }
    }

    /** Replaces the address on the stack by what lies there, extended to an int, or a long. */
    private void get(ValueType type, boolean ordered) {
        String order = ordered ? "Volatile" : "";
        switch (type.bytes()) {
            case 1 -> {
                CallEmitter.invoke(code, MEMORY, "getByte", byte.class, long.class);
                if (!type.isSigned()) {
                    code.loadConstant(0xff).iand();
                }
            }
            case 2 -> {
                CallEmitter.invoke(code, MEMORY, "getShort" + order, short.class, long.class);
                if (!type.isSigned()) {
                    code.i2c();
                }
            }
            case 4 -> CallEmitter.invoke(code, MEMORY, "getInt" + order, int.class, long.class);
            default -> CallEmitter.invoke(code, MEMORY, "getLong" + order, long.class, long.class);
        }
    }

    private void popLoaded(LoweredOperand result, ValueType type) {
        if (type.bits() == 64) {
            registers.popLong(result);
        } else if (type.isSigned() && Registers.isLong(result)) {
            code.i2l();
            registers.popLong(result);
        } else {
            registers.popInt(result);
        }
    }

    private void store(LoweredInstruction instruction) {
        ValueType type = elementType(instruction);
        List<LoweredOperand> values = instruction.arguments().subList(1, instruction.arguments().size());
        boolean word = isOneWord(instruction, type, values.size());
        pushChecked(instruction.space(), instruction.address(), type.bytes() * values.size());
        if (word) {
            storeWord(instruction, type, values);
            return;
        }
        if (values.size() > 1) {
            code.lstore(ReservedLocals.ADDRESS);
        }
        for (int i = 0; i < values.size(); i++) {
            if (values.size() > 1) {
                pushElementAddress(i, type);
            }
            put(values.get(i), type, isOrdered(instruction) ? "Volatile" : "");
        }
    }

    private void storeWord(LoweredInstruction instruction, ValueType type, List<LoweredOperand> values) {
        for (int i = 0; i < values.size(); i++) {
            registers.pushInt(values.get(i));
            registers.zeroExtend();
            if (type.bits() < 32) {
                code.loadConstant((1L << type.bits()) - 1).land();
            }
            if (i > 0) {
                code.loadConstant(i * type.bits()).lshl().lor();
            }
        }
        ValueType whole = wordType(type, values.size());
        if (whole.bits() < 64) {
            code.l2i();
        }
        putTop(whole, isOrdered(instruction) ? "Volatile" : "");
    }

    private void put(LoweredOperand value, ValueType type, String order) {
        if (type.bits() == 64) {
            registers.pushLong(value);
        } else {
            registers.pushInt(value);
        }
        putTop(type, order);
    }

    /** Stores the value on the stack at the address below it. */
    private void putTop(ValueType type, String order) {
        switch (type.bytes()) {
            case 1 -> {
                code.i2b();
                CallEmitter.invoke(code, MEMORY, "putByte", void.class, long.class, byte.class);
            }
            case 2 -> {
                code.i2s();
                CallEmitter.invoke(code, MEMORY, "putShort" + order, void.class, long.class, short.class);
            }
            case 4 -> CallEmitter.invoke(code, MEMORY, "putInt" + order, void.class, long.class, int.class);
            default -> CallEmitter.invoke(code, MEMORY, "putLong" + order, void.class, long.class, long.class);
        }
    }
}
