package io.tessera.software.compile;

import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.arithmetic.DoubleArithmetic;
import io.tessera.software.arithmetic.FloatConversions;
import io.tessera.software.arithmetic.IntegerConversions;
import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;

/** Emits {@code cvt}. */
final class ConversionEmitter {
    private static final Class<?> INTEGERS = IntegerConversions.class;
    private static final Class<?> FLOATS = FloatConversions.class;

    private final CodeBuilder code;
    private final Registers registers;

    ConversionEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Emits the instruction; false if it is no {@code cvt}. */
    boolean emit(LoweredInstruction instruction) {
        if (instruction.opcode() != Opcode.CVT) {
            return false;
        }
        ValueType to = instruction.type();
        ValueType from = instruction.sourceType();
        if (instruction.types().size() != 2 || instruction.has(Modifier.RS)) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        if (to.isPacked() || from.isPacked()) {
            pair(instruction, to, from);
        } else if (!to.isFloat() && !from.isFloat()) {
            integers(instruction, to, from);
        } else if (!to.isFloat()) {
            toInteger(instruction, to, from);
        } else if (!from.isFloat()) {
            fromInteger(instruction, to, from);
        } else {
            floats(instruction, to, from);
        }
        return true;
    }

    private static Rounding rounding(LoweredInstruction instruction) {
        Modifier word = instruction.firstOf(Modifier.RN, Modifier.RZ, Modifier.RM, Modifier.RP, Modifier.RNA,
                Modifier.RNI, Modifier.RZI, Modifier.RMI, Modifier.RPI);
        return word == null ? Rounding.NEAREST_EVEN : FloatEmitter.rounding(word);
    }

    private static boolean isWider(LoweredOperand operand, ValueType type) {
        return operand instanceof LoweredOperand.Register register && register.registerClass().bits() > type.bits();
    }

    private void integers(LoweredInstruction instruction, ValueType to, ValueType from) {
        LoweredOperand source = instruction.argument(0);
        LoweredOperand result = instruction.result();
        if (instruction.has(Modifier.SAT) || to.bits() <= 32 && Registers.isLong(result)) {
            registers.pushLong(source);
            code.loadConstant(from.bits()).loadConstant(from.isSigned() ? 1 : 0).loadConstant(to.bits())
                    .loadConstant(to.isSigned() ? 1 : 0).loadConstant(instruction.has(Modifier.SAT) ? 1 : 0);
            CallEmitter.invoke(code, INTEGERS, "toInteger", long.class, long.class, int.class, boolean.class, int.class,
                    boolean.class, boolean.class);
            registers.popLong(result);
            return;
        }
        if (from.bits() == 64 && to.bits() == 64) {
            registers.pushLong(source);
            registers.popLong(result);
            return;
        }
        registers.pushInt(source);
        extend(from);
        if (to.bits() == 64) {
            if (from.isSigned()) {
                code.i2l();
            } else {
                registers.zeroExtend();
            }
            registers.popLong(result);
            return;
        }
        if (to.bits() < from.bits() || to.bits() < 32 && to.isSigned() != from.isSigned()) {
            extend(to);
        }
        registers.popInt(result);
    }

    /** Extends the int on the stack from the width of a type narrower than 32 bits. */
    private void extend(ValueType type) {
        switch (type.bits()) {
            case 8 -> {
                if (type.isSigned()) {
                    code.i2b();
                } else {
                    code.loadConstant(0xff).iand();
                }
            }
            case 16 -> {
                if (type.isSigned()) {
                    code.i2s();
                } else {
                    code.i2c();
                }
            }
            default -> {}
        }
    }

    /** Pushes a source of {@code .f32}, {@code .f16} or {@code .bf16} as float, flushed if the instruction requires it. */
    private void pushSingle(LoweredInstruction instruction, ValueType type, int place) {
        if (type == ValueType.F32) {
            registers.pushFloat(instruction.argument(place));
            if (instruction.has(Modifier.FTZ)) {
                single("flush");
            }
        } else if (type == ValueType.F16 || type == ValueType.BF16) {
            registers.pushInt(instruction.argument(place));
            CallEmitter.invoke(code, HalfEmitter.functions(type), "toSingle", float.class, int.class);
        } else {
            throw new LeftToInterpreterException(instruction.spelling());
        }
    }

    private void single(String name) {
        CallEmitter.invoke(code, SingleArithmetic.class, name, float.class, float.class);
    }

    private void toInteger(LoweredInstruction instruction, ValueType to, ValueType from) {
        LoweredOperand result = instruction.result();
        Rounding rounding = rounding(instruction);
        boolean twice = from == ValueType.F64;
        if (twice) {
            registers.pushDouble(instruction.argument(0));
        } else {
            pushSingle(instruction, from, 0);
            if (rounding == Rounding.TOWARD_ZERO && to == ValueType.S32 && !isWider(result, to)) {
                // Java's conversion is this one: truncating, clamping, NaN becomes 0.
                code.f2i();
                registers.popInt(result);
                return;
            }
            code.f2d();
        }
        CallEmitter.push(code, rounding);
        code.loadConstant(to.bits()).loadConstant(to.isSigned() ? 1 : 0).loadConstant(twice ? 1 : 0);
        CallEmitter.invoke(code, INTEGERS, "toInteger", long.class, double.class, Rounding.class, int.class, boolean.class,
                boolean.class);
        if (to.isSigned() && isWider(result, to)) {
            code.loadConstant(to.bits());
            CallEmitter.invoke(code, INTEGERS, "signExtend", long.class, long.class, int.class);
        }
        registers.popLong(result);
    }

    private void fromInteger(LoweredInstruction instruction, ValueType to, ValueType from) {
        if (from.bits() == 64) {
            registers.pushLong(instruction.argument(0));
        } else {
            registers.pushInt(instruction.argument(0));
            extend(from);
            if (from.isSigned()) {
                code.i2l();
            } else {
                registers.zeroExtend();
            }
        }
        Rounding rounding = rounding(instruction);
        String sign = from.isSigned() ? "Signed" : "Unsigned";
        switch (to) {
            case F32 -> {
                CallEmitter.push(code, rounding);
                CallEmitter.invoke(code, INTEGERS, "singleOf" + sign, float.class, long.class, Rounding.class);
                popSingle(instruction, true);
            }
            case F64 -> {
                CallEmitter.push(code, rounding);
                CallEmitter.invoke(code, INTEGERS, "doubleOf" + sign, double.class, long.class, Rounding.class);
                popDouble(instruction);
            }
            case F16, BF16 -> {
                code.lstore(ReservedLocals.VALUE);
                CallEmitter.push(code, to == ValueType.F16 ? BinaryFormat.F16 : BinaryFormat.BF16);
                code.lload(ReservedLocals.VALUE).loadConstant(from.isSigned() ? 1 : 0);
                CallEmitter.push(code, rounding);
                CallEmitter.invoke(code, INTEGERS, "ofInteger", long.class, BinaryFormat.class, long.class, boolean.class,
                        Rounding.class);
                code.l2i();
                popHalf(instruction, to);
            }
            default -> throw new NotCompiledException(instruction.spelling());
        }
    }

    private void popSingle(LoweredInstruction instruction, boolean canonical) {
        if (instruction.has(Modifier.FTZ)) {
            single("flush");
        }
        if (instruction.has(Modifier.SAT)) {
            single("saturate");
        } else if (!canonical && !registers.isLoose(instruction.result())) {
            single("canonical");
        }
        registers.popFloat(instruction.result());
    }

    private void popDouble(LoweredInstruction instruction) {
        if (instruction.has(Modifier.SAT)) {
            CallEmitter.invoke(code, DoubleArithmetic.class, "saturate", double.class, double.class);
        }
        registers.popDouble(instruction.result());
    }

    private void popHalf(LoweredInstruction instruction, ValueType type) {
        if (instruction.has(Modifier.SAT)) {
            CallEmitter.invoke(code, HalfEmitter.functions(type), "saturate", int.class, int.class);
        }
        if (instruction.has(Modifier.RELU)) {
            CallEmitter.invoke(code, HalfEmitter.functions(type), "relu", int.class, int.class);
        }
        registers.popInt(instruction.result());
    }

    private static boolean roundsToIntegral(LoweredInstruction instruction) {
        return instruction.firstOf(Modifier.RNI, Modifier.RZI, Modifier.RMI, Modifier.RPI) != null;
    }

    private void floats(LoweredInstruction instruction, ValueType to, ValueType from) {
        if (instruction.has(Modifier.SATFINITE)) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        Rounding rounding = rounding(instruction);
        if (from == ValueType.F64) {
            fromDouble(instruction, to, rounding);
            return;
        }
        pushSingle(instruction, from, 0);
        if (roundsToIntegral(instruction)) {
            CallEmitter.push(code, rounding);
            CallEmitter.invoke(code, INTEGERS, "integral", float.class, float.class, Rounding.class);
        }
        switch (to) {
            case F32 -> popSingle(instruction, false);
            case F64 -> {
                CallEmitter.invoke(code, FLOATS, "toDouble", double.class, float.class);
                popDouble(instruction);
            }
            case F16, BF16 -> {
                narrow(to, roundsToIntegral(instruction) ? Rounding.NEAREST_EVEN : rounding);
                popHalf(instruction, to);
            }
            case TF32 -> {
                if (instruction.has(Modifier.RELU)) {
                    single("relu");
                }
                CallEmitter.push(code, rounding);
                CallEmitter.invoke(code, FLOATS, "singleToTf32", int.class, float.class, Rounding.class);
                registers.popInt(instruction.result());
            }
            default -> throw new NotCompiledException(instruction.spelling());
        }
    }

    private void narrow(ValueType to, Rounding rounding) {
        CallEmitter.push(code, rounding);
        CallEmitter.invoke(code, FLOATS, to == ValueType.F16 ? "singleToHalf" : "singleToBrain", int.class, float.class,
                Rounding.class);
    }

    private void fromDouble(LoweredInstruction instruction, ValueType to, Rounding rounding) {
        registers.pushDouble(instruction.argument(0));
        if (roundsToIntegral(instruction)) {
            CallEmitter.push(code, rounding);
            CallEmitter.invoke(code, INTEGERS, "integral", double.class, double.class, Rounding.class);
        }
        switch (to) {
            case F64 -> popDouble(instruction);
            case F32 -> {
                CallEmitter.push(code, rounding);
                CallEmitter.invoke(code, FLOATS, "toSingle", float.class, double.class, Rounding.class);
                popSingle(instruction, true);
            }
            case F16, BF16 -> {
                CallEmitter.push(code, rounding);
                CallEmitter.invoke(code, FLOATS, to == ValueType.F16 ? "doubleToHalf" : "doubleToBrain", int.class,
                        double.class, Rounding.class);
                popHalf(instruction, to);
            }
            default -> throw new NotCompiledException(instruction.spelling());
        }
    }

    /** Two floats into a pair of halves: the first argument becomes the upper one. */
    private void pair(LoweredInstruction instruction, ValueType to, ValueType from) {
        boolean halves = to == ValueType.F16X2 || to == ValueType.BF16X2;
        if (!halves || from != ValueType.F32 || instruction.has(Modifier.SATFINITE)
                || instruction.arguments().size() != 2) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        for (int place = 0; place < 2; place++) {
            pushSingle(instruction, from, place);
            narrow(to.element(), rounding(instruction));
            if (instruction.has(Modifier.RELU)) {
                CallEmitter.invoke(code, HalfEmitter.functions(to.element()), "relu", int.class, int.class);
            }
            if (place == 0) {
                code.loadConstant(16).ishl();
            }
        }
        code.ior();
        registers.popInt(instruction.result());
    }
}
