package io.tessera.software.compile;

import io.tessera.software.arithmetic.Approximations;
import io.tessera.software.arithmetic.DoubleArithmetic;
import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.compile.flat.RegisterKinds;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.util.Arrays;
import java.util.Locale;

/** Emits arithmetic of {@code .f32} and {@code .f64}. */
final class FloatEmitter {
    private static final Class<?> SINGLE = SingleArithmetic.class;
    private static final Class<?> DOUBLE = DoubleArithmetic.class;

    private final CodeBuilder code;
    private final Registers registers;

    FloatEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        ValueType type = instruction.types().isEmpty() ? null : instruction.type();
        if (instruction.types().size() != 1 || type != ValueType.F32 && type != ValueType.F64) {
            return false;
        }
        int operands = switch (instruction.opcode()) {
            case ADD, SUB, MUL, DIV, MIN, MAX, COPYSIGN -> 2;
            case MAD, FMA -> 3;
            case ABS, NEG, RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH -> 1;
            default -> 0;
        };
        if (operands == 0) {
            return false;
        }
        if (operands != instruction.arguments().size()) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        if (type == ValueType.F32) {
            single(instruction, operands);
        } else {
            twice(instruction, operands);
        }
        return true;
    }

    /** Returns the rounding mode of an instruction. */
    static Rounding rounding(Modifier modifier) {
        return switch (modifier) {
            case RZ, RZI -> Rounding.TOWARD_ZERO;
            case RM, RMI -> Rounding.DOWN;
            case RP, RPI -> Rounding.UP;
            case RNA -> Rounding.NEAREST_AWAY;
            default -> Rounding.NEAREST_EVEN;
        };
    }

    private void call(Class<?> owner, String name, Class<?> type, int count) {
        Class<?>[] parameters = new Class<?>[count];
        Arrays.fill(parameters, type);
        CallEmitter.invoke(code, owner, name, type, parameters);
    }

    private void callRounding(Class<?> owner, String name, Class<?> type, int count, Rounding rounding) {
        Class<?>[] parameters = new Class<?>[count + 1];
        Arrays.fill(parameters, type);
        parameters[count] = Rounding.class;
        CallEmitter.push(code, rounding);
        CallEmitter.invoke(code, owner, name, type, parameters);
    }

    private void single(LoweredInstruction instruction, int operands) {
        boolean flush = instruction.has(Modifier.FTZ);
        for (int i = 0; i < operands; i++) {
            LoweredOperand operand = instruction.argument(i);
            if (RegisterKinds.isLooseArithmetic(instruction)) {
                registers.pushFloat(operand);
            } else {
                registers.pushExactFloat(operand);
            }
            if (flush) {
                call(SINGLE, "flush", float.class, 1);
            }
            if (instruction.has(Modifier.XORSIGN)) {
                call(SINGLE, "abs", float.class, 1);
            }
        }
        boolean canonical = singleOperation(instruction, operands);
        if (flush) {
            flushResult(instruction, operands);
        }
        if (instruction.has(Modifier.XORSIGN)) {
            registers.pushExactFloat(instruction.argument(0));
            registers.pushExactFloat(instruction.argument(1));
            call(SINGLE, "xorSign", float.class, 3);
        }
        if (instruction.has(Modifier.SAT)) {
            call(SINGLE, "saturate", float.class, 1);
        } else if (!canonical && !registers.isLoose(instruction.result())) {
            call(SINGLE, "canonical", float.class, 1);
        }
        registers.popFloat(instruction.result());
    }

    private void flushResult(LoweredInstruction instruction, int operands) {
        String function = switch (instruction.opcode()) {
            case MUL -> "flushProduct";
            case MAD, FMA -> "flushFma";
            default -> null;
        };
        if (function == null) {
            call(SINGLE, "flush", float.class, 1);
            return;
        }
        for (int i = 0; i < operands; i++) {
            registers.pushFloat(instruction.argument(i));
            call(SINGLE, "flush", float.class, 1);
        }
        callRounding(SINGLE, function, float.class, operands + 1, rounding(instruction.rounding()));
    }

    /** Emits the operation itself; returns whether a NaN result is already canonical. */
    private boolean singleOperation(LoweredInstruction instruction, int operands) {
        Rounding rounding = rounding(instruction.rounding());
        boolean approximate = instruction.has(Modifier.APPROX) || instruction.has(Modifier.FULL);
        String name = instruction.opcode().name().toLowerCase(Locale.ROOT);
        switch (instruction.opcode()) {
            case ADD, SUB, MUL, MAD, FMA -> {
                if (rounding == Rounding.NEAREST_EVEN) {
                    nearest(instruction);
                    return false;
                }
                callRounding(SINGLE, name.equals("mad") ? "fma" : name, float.class, operands, rounding);
            }
            case DIV, RCP, SQRT -> {
                if (approximate) {
                    call(Approximations.class, !name.equals("div") ? name
                            : instruction.has(Modifier.FULL) ? "divFull" : "divApprox", float.class, operands);
                } else {
                    callRounding(SINGLE, name, float.class, operands, rounding);
                }
            }
            case MIN, MAX -> call(SINGLE, instruction.has(Modifier.NAN) ? name + "Nan" : name, float.class, 2);
            case ABS, NEG -> call(SINGLE, name, float.class, 1);
            case COPYSIGN -> call(SINGLE, "copySign", float.class, 2);
            default -> call(Approximations.class, name, float.class, operands);
        }
        return true;
    }

    private void nearest(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case ADD -> code.fadd();
            case SUB -> code.fsub();
            case MUL -> code.fmul();
            default -> call(Math.class, "fma", float.class, 3);
        }
    }

    private void twice(LoweredInstruction instruction, int operands) {
        for (int i = 0; i < operands; i++) {
            registers.pushDouble(instruction.argument(i));
        }
        Rounding rounding = rounding(instruction.rounding());
        String name = instruction.opcode().name().toLowerCase(Locale.ROOT);
        switch (instruction.opcode()) {
            case ADD, SUB, MUL, MAD, FMA, DIV, RCP, SQRT -> {
                String function = name.equals("mad") ? "fma" : name;
                if (instruction.has(Modifier.APPROX)) {
                    if (!function.equals("rcp") || !instruction.has(Modifier.FTZ)) {
                        throw new NotCompiledException(instruction.spelling());
                    }
                    call(Approximations.class, "rcpDouble", double.class, 1);
                } else if (rounding == Rounding.NEAREST_EVEN) {
                    call(DOUBLE, function, double.class, operands);
                } else {
                    callRounding(DOUBLE, function, double.class, operands, rounding);
                }
            }
            case RSQRT -> call(Approximations.class, instruction.has(Modifier.FTZ) ? "rsqrtDouble" : "rsqrtFull",
                    double.class, 1);
            case MIN, MAX, ABS, NEG -> call(DOUBLE, name, double.class, operands);
            case COPYSIGN -> call(DOUBLE, "copySign", double.class, 2);
            default -> throw new NotCompiledException(instruction.spelling());
        }
        registers.popDouble(instruction.result());
    }
}
