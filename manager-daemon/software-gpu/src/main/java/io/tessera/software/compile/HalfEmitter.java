package io.tessera.software.compile;

import io.tessera.software.arithmetic.Approximations;
import io.tessera.software.arithmetic.BrainArithmetic;
import io.tessera.software.arithmetic.HalfArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.util.Arrays;
import java.util.Locale;

/** Emits arithmetic of {@code .f16} and {@code .bf16}, single and packed in pairs. */
final class HalfEmitter {
    private final CodeBuilder code;
    private final Registers registers;

    HalfEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Functions of an element type. */
    static Class<?> functions(ValueType element) {
        return element == ValueType.F16 ? HalfArithmetic.class : BrainArithmetic.class;
    }

    /** Returns whether the type is one of these, or a pair of them. */
    static boolean isHalf(ValueType type) {
        return type.element() == ValueType.F16 || type.element() == ValueType.BF16;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        if (instruction.types().size() != 1 || !isHalf(instruction.type())) {
            return false;
        }
        int operands = switch (instruction.opcode()) {
            case ADD, SUB, MUL, MIN, MAX -> 2;
            case FMA -> 3;
            case ABS, NEG, EX2, TANH -> 1;
            default -> 0;
        };
        if (operands == 0) {
            return false;
        }
        if (operands != instruction.arguments().size() || instruction.has(Modifier.OOB)) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        element(instruction, operands, false);
        if (instruction.type().isPacked()) {
            element(instruction, operands, true);
            code.loadConstant(16).ishl().ior();
        }
        registers.popInt(instruction.result());
        return true;
    }

    private void element(LoweredInstruction instruction, int operands, boolean high) {
        Class<?> functions = functions(instruction.type().element());
        boolean flush = instruction.has(Modifier.FTZ);
        for (int i = 0; i < operands; i++) {
            pushElement(instruction, i, high);
            if (flush) {
                call(functions, "flush", 1);
            }
            if (instruction.has(Modifier.XORSIGN)) {
                call(functions, "abs", 1);
            }
        }
        String name = instruction.opcode().name().toLowerCase(Locale.ROOT);
        switch (instruction.opcode()) {
            case EX2, TANH -> call(Approximations.class,
                    name + (functions == HalfArithmetic.class ? "Half" : "Brain"), 1);
            case MIN, MAX -> call(functions, instruction.has(Modifier.NAN) ? name + "Nan" : name, 2);
            default -> call(functions, name, operands);
        }
        if (flush) {
            flushResult(instruction, functions, high);
        }
        if (instruction.has(Modifier.XORSIGN)) {
            pushElement(instruction, 0, high);
            pushElement(instruction, 1, high);
            call(functions, "xorSign", 3);
        }
        if (instruction.has(Modifier.SAT)) {
            call(functions, "saturate", 1);
        }
        if (instruction.has(Modifier.RELU)) {
            call(functions, "relu", 1);
        }
    }

    private void flushResult(LoweredInstruction instruction, Class<?> functions, boolean high) {
        if (instruction.opcode() == Opcode.MUL && functions == HalfArithmetic.class) {
            pushElement(instruction, 0, high);
            pushElement(instruction, 1, high);
            call(functions, "flushProduct", 3);
        } else {
            call(functions, "flush", 1);
        }
    }

    private void pushElement(LoweredInstruction instruction, int place, boolean high) {
        registers.pushInt(instruction.argument(place));
        if (high) {
            code.loadConstant(16).iushr();
        } else if (instruction.type().isPacked()) {
            code.loadConstant(0xffff).iand();
        }
    }

    private void call(Class<?> owner, String name, int count) {
        Class<?>[] parameters = new Class<?>[count];
        Arrays.fill(parameters, int.class);
        CallEmitter.invoke(code, owner, name, int.class, parameters);
    }
}
