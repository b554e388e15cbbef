package io.tessera.software.compile;

import io.tessera.software.arithmetic.CarryArithmetic;
import io.tessera.software.arithmetic.IntegerArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.instruction.OperatorInstruction;
import java.util.Arrays;

/** Emits arithmetic of integers of 16, 32 and 64 bits. */
final class IntegerEmitter {
    private static final Class<?> ARITHMETIC = IntegerArithmetic.class;

    private final CodeBuilder code;
    private final Registers registers;

    IntegerEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        ValueType type = instruction.types().isEmpty() ? null : instruction.type();
        if (type == null || type.isFloat() || type.isPacked()) {
            return false;
        }
        switch (instruction.opcode()) {
            case ADD, SUB -> sum(instruction, type);
            case ADDC, SUBC -> sumWithCarry(instruction, type);
            case MUL -> product(instruction, type);
            case MAD -> multiplyAdd(instruction, type);
            case MADC -> multiplyAddWithCarry(instruction, type);
            case MUL24 -> {
                pushAll(instruction, 2, false);
                call("mul24" + (instruction.has(Modifier.HI) ? "Hi" : "Lo") + suffix(type), int.class, 2);
                registers.popInt(instruction.result());
            }
            case DIV, REM -> call(instruction, type, 2, instruction.opcode() == Opcode.DIV ? "div" : "rem");
            case SAD -> call(instruction, type, 3, "sad");
            case MIN, MAX -> extremum(instruction, type);
            case ABS, NEG -> unary(instruction, type);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** S32 and the like; types without a sign count as unsigned. */
    static String suffix(ValueType type) {
        return (type.isSigned() ? "S" : "U") + type.bits();
    }

    private void push(LoweredOperand operand, boolean wide) {
        if (wide) {
            registers.pushLong(operand);
        } else {
            registers.pushInt(operand);
        }
    }

    private void pushAll(LoweredInstruction instruction, int count, boolean wide) {
        for (int i = 0; i < count; i++) {
            push(instruction.argument(i), wide);
        }
    }

    private void pop(LoweredOperand result, boolean wide) {
        if (wide) {
            registers.popLong(result);
        } else {
            registers.popInt(result);
        }
    }

    private void call(String name, Class<?> type, int count) {
        Class<?>[] parameters = new Class<?>[count];
        Arrays.fill(parameters, type);
        CallEmitter.invoke(code, ARITHMETIC, name, type, parameters);
    }

    /** Calls the function of this name for the type. */
    private void call(LoweredInstruction instruction, ValueType type, int count, String name) {
        boolean wide = type.bits() == 64;
        pushAll(instruction, count, wide);
        call(name + suffix(type), wide ? long.class : int.class, count);
        pop(instruction.result(), wide);
    }

    private void sum(LoweredInstruction instruction, ValueType type) {
        boolean wide = type.bits() == 64;
        boolean add = instruction.opcode() == Opcode.ADD;
        if (instruction.has(Modifier.CC)) {
            code.loadConstant(add ? 0 : 1).istore(ReservedLocals.CARRY);
            sumWithCarry(instruction, type);
            return;
        }
        pushAll(instruction, 2, wide);
        if (instruction.has(Modifier.SAT)) {
            call(add ? "addSat" : "subSat", int.class, 2);
        } else if (wide) {
            code.with(add ? ladd() : lsub());
        } else if (add) {
            code.iadd();
        } else {
            code.isub();
        }
        pop(instruction.result(), wide);
    }

    private static OperatorInstruction ladd() {
        return OperatorInstruction.of(java.lang.classfile.Opcode.LADD);
    }

    private static OperatorInstruction lsub() {
        return OperatorInstruction.of(java.lang.classfile.Opcode.LSUB);
    }

    /** {@code a + b + carry} or {@code a + ~b + carry}, and the new flag if the instruction sets it. */
    private void sumWithCarry(LoweredInstruction instruction, ValueType type) {
        boolean add = instruction.opcode() == Opcode.ADD || instruction.opcode() == Opcode.ADDC;
        boolean wide = type.bits() == 64;
        addWithCarry(instruction, wide, () -> push(instruction.argument(0), wide), () -> {
            push(instruction.argument(1), wide);
            if (!add) {
                complement(wide);
            }
        });
    }

    private void complement(boolean wide) {
        if (wide) {
            code.loadConstant(-1L).lxor();
        } else {
            code.iconst_m1().ixor();
        }
    }

    private void addWithCarry(LoweredInstruction instruction, boolean wide, Runnable first, Runnable second) {
        Class<?> type = wide ? long.class : int.class;
        boolean setsCarry = instruction.has(Modifier.CC);
        if (setsCarry) {
            first.run();
            second.run();
            code.iload(ReservedLocals.CARRY);
            CallEmitter.invoke(code, CarryArithmetic.class, "carryOfSum", int.class, type, type, int.class);
        }
        first.run();
        second.run();
        if (wide) {
            code.ladd().iload(ReservedLocals.CARRY).i2l().ladd();
        } else {
            code.iadd().iload(ReservedLocals.CARRY).iadd();
        }
        // The result may be an operand as well: the flag was computed before it is overwritten.
        pop(instruction.result(), wide);
        if (setsCarry) {
            code.istore(ReservedLocals.CARRY);
        }
    }

    private void product(LoweredInstruction instruction, ValueType type) {
        boolean wide = type.bits() == 64;
        if (instruction.has(Modifier.WIDE)) {
            pushAll(instruction, 2, false);
            Class<?> result = type.bits() == 32 ? long.class : int.class;
            CallEmitter.invoke(code, ARITHMETIC, "mulWide" + suffix(type), result, int.class, int.class);
            pop(instruction.result(), type.bits() == 32);
            return;
        }
        pushProduct(instruction, type);
        pop(instruction.result(), wide);
    }

    /** Pushes the low or high half of the product of the first two arguments. */
    private void pushProduct(LoweredInstruction instruction, ValueType type) {
        boolean wide = type.bits() == 64;
        pushAll(instruction, 2, wide);
        if (instruction.has(Modifier.HI)) {
            if (wide) {
                CallEmitter.invoke(code, Math.class, type.isSigned() ? "multiplyHigh" : "unsignedMultiplyHigh", long.class,
                        long.class, long.class);
            } else {
                call("mulHi" + suffix(type), int.class, 2);
            }
        } else if (wide) {
            code.lmul();
        } else {
            code.imul();
        }
    }

    private void multiplyAdd(LoweredInstruction instruction, ValueType type) {
        boolean wide = type.bits() == 64;
        if (instruction.has(Modifier.CC)) {
            code.iconst_0().istore(ReservedLocals.CARRY);
            multiplyAddWithCarry(instruction, type);
            return;
        }
        if (instruction.has(Modifier.SAT)) {
            pushAll(instruction, 3, false);
            call("madHiSat", int.class, 3);
            registers.popInt(instruction.result());
        } else if (instruction.has(Modifier.WIDE)) {
            pushAll(instruction, 2, false);
            boolean toLong = type.bits() == 32;
            CallEmitter.invoke(code, ARITHMETIC, "mulWide" + suffix(type), toLong ? long.class : int.class, int.class,
                    int.class);
            push(instruction.argument(2), toLong);
            add(toLong);
            pop(instruction.result(), toLong);
        } else {
            pushProduct(instruction, type);
            push(instruction.argument(2), wide);
            add(wide);
            pop(instruction.result(), wide);
        }
    }

    private void multiplyAddWithCarry(LoweredInstruction instruction, ValueType type) {
        boolean wide = type.bits() == 64;
        addWithCarry(instruction, wide, () -> pushProduct(instruction, type),
                () -> push(instruction.argument(2), wide));
    }

    private void add(boolean wide) {
        if (wide) {
            code.ladd();
        } else {
            code.iadd();
        }
    }

    private void extremum(LoweredInstruction instruction, ValueType type) {
        boolean min = instruction.opcode() == Opcode.MIN;
        if (instruction.has(Modifier.RELU)) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        if (type == ValueType.S32 || type == ValueType.S64) {
            boolean wide = type.bits() == 64;
            Class<?> java = wide ? long.class : int.class;
            pushAll(instruction, 2, wide);
            CallEmitter.invoke(code, Math.class, min ? "min" : "max", java, java, java);
            pop(instruction.result(), wide);
        } else {
            call(instruction, type, 2, min ? "min" : "max");
        }
    }

    private void unary(LoweredInstruction instruction, ValueType type) {
        boolean wide = type.bits() == 64;
        boolean abs = instruction.opcode() == Opcode.ABS;
        push(instruction.argument(0), wide);
        if (abs && type.bits() == 16) {
            code.i2s();
        }
        if (abs) {
            Class<?> java = wide ? long.class : int.class;
            CallEmitter.invoke(code, Math.class, "abs", java, java);
        } else if (wide) {
            code.lneg();
        } else {
            code.ineg();
        }
        pop(instruction.result(), wide);
    }
}
