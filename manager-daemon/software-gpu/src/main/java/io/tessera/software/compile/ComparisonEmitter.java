package io.tessera.software.compile;

import io.tessera.software.arithmetic.Comparison;
import io.tessera.software.arithmetic.NumberClass;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.OperatorInstruction;

/** Emits {@code set}, {@code setp}, {@code selp}, {@code slct} and {@code testp}. */
final class ComparisonEmitter {
    private final CodeBuilder code;
    private final Registers registers;

    ComparisonEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case SETP -> setPredicate(instruction);
            case SET -> set(instruction);
            case SELP -> selectByPredicate(instruction);
            case SLCT -> selectBySign(instruction);
            case TESTP -> test(instruction);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static Comparison comparison(LoweredInstruction instruction) {
        for (Modifier word : instruction.modifiers()) {
            switch (word) {
                case EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN -> {
                    return Comparison.valueOf(word.name());
                }
                case LO -> {
                    return Comparison.LT;
                }
                case LS -> {
                    return Comparison.LE;
                }
                case HI -> {
                    return Comparison.GT;
                }
                case HS -> {
                    return Comparison.GE;
                }
                default -> {}
            }
        }
        throw new LeftToInterpreterException(instruction.spelling());
    }

    private void setPredicate(LoweredInstruction instruction) {
        if (instruction.sourceType().isPacked()) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        pushRelation(instruction);
        if (instruction.results().size() > 1) {
            code.istore(ReservedLocals.VALUE);
            code.iload(ReservedLocals.VALUE).iconst_1().ixor();
            combine(instruction);
            code.iload(ReservedLocals.VALUE);
            combine(instruction);
            registers.popInt(instruction.result());
            registers.popInt(instruction.results().get(1));
            return;
        }
        combine(instruction);
        registers.popInt(instruction.result());
    }

    /** Combines the relation on the stack with the third argument, if there is one. */
    private void combine(LoweredInstruction instruction) {
        if (instruction.arguments().size() < 3) {
            return;
        }
        registers.pushInt(instruction.argument(2));
        Modifier operation = instruction.firstOf(Modifier.AND, Modifier.OR, Modifier.XOR);
        switch (operation) {
            case AND -> code.iand();
            case OR -> code.ior();
            default -> code.ixor();
        }
    }

    private void set(LoweredInstruction instruction) {
        if (instruction.sourceType().isPacked() || instruction.type().isPacked()) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        pushRelation(instruction);
        combine(instruction);
        switch (instruction.type()) {
            case F32 -> {
                code.i2f();
                registers.popFloat(instruction.result());
                return;
            }
            case F16 -> code.loadConstant(0x3c00).imul();
            case BF16 -> code.loadConstant(0x3f80).imul();
            default -> code.ineg();
        }
        registers.popInt(instruction.result());
    }

    /** Pushes 1 or 0. */
    private void pushRelation(LoweredInstruction instruction) {
        Comparison comparison = comparison(instruction);
        ValueType type = instruction.sourceType();
        if (type.isFloat()) {
            pushFloatRelation(instruction, type, comparison);
            return;
        }
        boolean signed = type.isSigned();
        if (type.bits() == 64) {
            registers.pushLong(instruction.argument(0));
            registers.pushLong(instruction.argument(1));
            if (signed || comparison == Comparison.EQ || comparison == Comparison.NE) {
                code.lcmp();
            } else {
                CallEmitter.invoke(code, Long.class, "compareUnsigned", int.class, long.class, long.class);
            }
            truth(jump(comparison));
            return;
        }
        for (int i = 0; i < 2; i++) {
            registers.pushInt(instruction.argument(i));
            if (signed && type.bits() == 16) {
                code.i2s();
            }
        }
        if (signed || comparison == Comparison.EQ || comparison == Comparison.NE || type.bits() == 16) {
            truth(jumpOfTwo(comparison));
        } else {
            CallEmitter.invoke(code, Integer.class, "compareUnsigned", int.class, int.class, int.class);
            truth(jump(comparison));
        }
    }

    private void truth(Opcode jump) {
        BranchEmitter.truth(code, jump);
    }

    private static Opcode jump(Comparison comparison) {
        return switch (comparison) {
            case EQ, EQU -> Opcode.IFEQ;
            case NE, NEU -> Opcode.IFNE;
            case LT, LTU -> Opcode.IFLT;
            case LE, LEU -> Opcode.IFLE;
            case GT, GTU -> Opcode.IFGT;
            default -> Opcode.IFGE;
        };
    }

    private static Opcode jumpOfTwo(Comparison comparison) {
        return switch (comparison) {
            case EQ -> Opcode.IF_ICMPEQ;
            case NE -> Opcode.IF_ICMPNE;
            case LT -> Opcode.IF_ICMPLT;
            case LE -> Opcode.IF_ICMPLE;
            case GT -> Opcode.IF_ICMPGT;
            default -> Opcode.IF_ICMPGE;
        };
    }

    private void pushFloatRelation(LoweredInstruction instruction, ValueType type, Comparison comparison) {
        boolean rare = switch (comparison) {
            case NE, EQU, NUM, NAN -> true;
            default -> false;
        };
        boolean twice = type == ValueType.F64;
        if (rare) {
            CallEmitter.push(code, comparison);
        }
        for (int i = 0; i < 2; i++) {
            pushFloat(instruction, type, i);
            if (rare && !twice) {
                code.f2d();
            }
        }
        if (rare) {
            CallEmitter.invokeVirtual(code, Comparison.class, "holds", boolean.class, double.class, double.class);
            return;
        }
        // Whether NaN counts as less or as greater makes the relation ordered or unordered.
        boolean nanIsGreater = switch (comparison) {
            case LT, LE, GTU, GEU -> true;
            default -> false;
        };
        if (twice) {
            code.with(OperatorInstruction.of(
                    nanIsGreater ? Opcode.DCMPG : Opcode.DCMPL));
        } else {
            code.with(OperatorInstruction.of(
                    nanIsGreater ? Opcode.FCMPG : Opcode.FCMPL));
        }
        truth(jump(comparison));
    }

    private void pushFloat(LoweredInstruction instruction, ValueType type, int place) {
        LoweredOperand operand = instruction.argument(place);
        switch (type) {
            case F64 -> registers.pushDouble(operand);
            case F32 -> {
                registers.pushFloat(operand);
                if (instruction.has(Modifier.FTZ)) {
                    CallEmitter.invoke(code, SingleArithmetic.class, "flush", float.class, float.class);
                }
            }
            default -> {
                registers.pushInt(operand);
                if (instruction.has(Modifier.FTZ)) {
                    CallEmitter.invoke(code, HalfEmitter.functions(type), "flush", int.class, int.class);
                }
                CallEmitter.invoke(code, HalfEmitter.functions(type), "toSingle", float.class, int.class);
            }
        }
    }

    private void selectByPredicate(LoweredInstruction instruction) {
        registers.pushInt(instruction.argument(2));
        select(instruction, Opcode.IFNE);
    }

    private void selectBySign(LoweredInstruction instruction) {
        if (instruction.sourceType() == ValueType.F32) {
            registers.pushFloat(instruction.argument(2));
            if (instruction.has(Modifier.FTZ)) {
                CallEmitter.invoke(code, SingleArithmetic.class, "flush", float.class, float.class);
            }
            code.fconst_0().fcmpl();
        } else {
            registers.pushInt(instruction.argument(2));
        }
        select(instruction, Opcode.IFGE);
    }

    private void select(LoweredInstruction instruction, Opcode jump) {
        if (instruction.type().bits() == 64) {
            BranchEmitter.choose(code, jump, () -> registers.pushLong(instruction.argument(0)),
                    () -> registers.pushLong(instruction.argument(1)));
            registers.popLong(instruction.result());
        } else if (registers.isFloat(instruction.result())) {
            BranchEmitter.choose(code, jump, () -> registers.pushExactFloat(instruction.argument(0)),
                    () -> registers.pushExactFloat(instruction.argument(1)));
            registers.popFloat(instruction.result());
        } else {
            BranchEmitter.choose(code, jump, () -> registers.pushInt(instruction.argument(0)),
                    () -> registers.pushInt(instruction.argument(1)));
            registers.popInt(instruction.result());
        }
    }

    private void test(LoweredInstruction instruction) {
        Modifier word = instruction.firstOf(Modifier.FINITE, Modifier.INFINITE, Modifier.NUMBER,
                Modifier.NOTANUMBER, Modifier.NORMAL, Modifier.SUBNORMAL);
        CallEmitter.push(code, NumberClass.valueOf(word.name()));
        if (instruction.type() == ValueType.F64) {
            registers.pushDouble(instruction.argument(0));
            CallEmitter.invokeVirtual(code, NumberClass.class, "holds", boolean.class, double.class);
        } else {
            registers.pushFloat(instruction.argument(0));
            CallEmitter.invokeVirtual(code, NumberClass.class, "holds", boolean.class, float.class);
        }
        registers.popInt(instruction.result());
    }
}
