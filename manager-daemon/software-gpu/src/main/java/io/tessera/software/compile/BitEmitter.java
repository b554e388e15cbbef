package io.tessera.software.compile;

import io.tessera.software.arithmetic.BitOperations;
import io.tessera.software.arithmetic.DotProducts;
import io.tessera.software.arithmetic.Permutation;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.instruction.OperatorInstruction;

/** Emits logic, shifts, bit fields, permutations and dot products. */
final class BitEmitter {
    private static final Class<?> BITS = BitOperations.class;

    private final CodeBuilder code;
    private final Registers registers;

    BitEmitter(CodeBuilder code, Registers registers) {
        this.code = code;
        this.registers = registers;
    }

    /** Emits the instruction; false if it is none of these. */
    boolean emit(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case AND, OR, XOR, NOT, CNOT -> logic(instruction);
            case LOP3 -> lop3(instruction);
            case SHL, SHR -> shift(instruction);
            case SHF -> {
                String name = "funnel" + (instruction.has(Modifier.L) ? "Left" : "Right")
                        + (instruction.has(Modifier.WRAP) ? "Wrap" : "Clamp");
                ints(instruction, BITS, name, 3);
            }
            case POPC, CLZ, BREV -> count(instruction);
            case BFIND -> find(instruction);
            case FNS -> ints(instruction, BITS, "findNthSet", 3);
            case BFE, BFI -> field(instruction);
            case BMSK -> ints(instruction, BITS, instruction.has(Modifier.WRAP) ? "maskWrap" : "maskClamp", 2);
            case SZEXT -> ints(instruction, BITS, (instruction.type().isSigned() ? "signExtend" : "zeroExtend")
                    + (instruction.has(Modifier.WRAP) ? "Wrap" : "Clamp"), 2);
            case PRMT -> permute(instruction);
            case DP4A, DP2A -> dotProduct(instruction);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void ints(LoweredInstruction instruction, Class<?> owner, String name, int count) {
        Class<?>[] parameters = new Class<?>[count];
        for (int i = 0; i < count; i++) {
            registers.pushInt(instruction.argument(i));
            parameters[i] = int.class;
        }
        CallEmitter.invoke(code, owner, name, int.class, parameters);
        registers.popInt(instruction.result());
    }

    private void push(LoweredOperand operand, boolean wide) {
        if (wide) {
            registers.pushLong(operand);
        } else {
            registers.pushInt(operand);
        }
    }

    private void pop(LoweredOperand operand, boolean wide) {
        if (wide) {
            registers.popLong(operand);
        } else {
            registers.popInt(operand);
        }
    }

    private void logic(LoweredInstruction instruction) {
        ValueType type = instruction.type();
        boolean wide = type.bits() == 64;
        push(instruction.argument(0), wide);
        switch (instruction.opcode()) {
            case NOT -> {
                if (type == ValueType.PRED) {
                    code.iconst_1().ixor();
                } else if (wide) {
                    code.loadConstant(-1L).lxor();
                } else {
                    code.iconst_m1().ixor();
                }
            }
            case CNOT -> {
                if (wide) {
                    code.lconst_0().lcmp();
                }
                BranchEmitter.truth(code, java.lang.classfile.Opcode.IFEQ);
                if (wide) {
                    code.i2l();
                }
            }
            default -> {
                push(instruction.argument(1), wide);
                combine(instruction.opcode(), wide);
            }
        }
        pop(instruction.result(), wide);
    }

    private void combine(Opcode operation, boolean wide) {
        switch (operation) {
            case AND -> {
                if (wide) {
                    code.land();
                } else {
                    code.iand();
                }
            }
            case OR -> {
                if (wide) {
                    code.lor();
                } else {
                    code.ior();
                }
            }
            default -> {
                if (wide) {
                    code.lxor();
                } else {
                    code.ixor();
                }
            }
        }
    }

    private void lop3(LoweredInstruction instruction) {
        if (instruction.results().size() != 1 || !(instruction.argument(3) instanceof LoweredOperand.Immediate)) {
            throw new LeftToInterpreterException(instruction.spelling());
        }
        // The table is a constant, so the JIT compiler unrolls and folds the function's loop over it.
        ints(instruction, BITS, "lop3", 4);
    }

    private void shift(LoweredInstruction instruction) {
        ValueType type = instruction.type();
        boolean wide = type.bits() == 64;
        boolean left = instruction.opcode() == Opcode.SHL;
        push(instruction.argument(0), wide);
        if (instruction.argument(1) instanceof LoweredOperand.Immediate(long amount) && type.bits() >= 32 && amount >= 0
                && amount < type.bits()) {
            code.loadConstant((int) amount);
            if (left) {
                code.with(operator(wide ? java.lang.classfile.Opcode.LSHL : java.lang.classfile.Opcode.ISHL));
            } else if (type.isSigned()) {
                code.with(operator(wide ? java.lang.classfile.Opcode.LSHR : java.lang.classfile.Opcode.ISHR));
            } else {
                code.with(operator(wide ? java.lang.classfile.Opcode.LUSHR : java.lang.classfile.Opcode.IUSHR));
            }
        } else {
            registers.pushInt(instruction.argument(1));
            String name = left ? "shl" + type.bits() : "shr" + IntegerEmitter.suffix(type);
            Class<?> java = wide ? long.class : int.class;
            CallEmitter.invoke(code, BITS, name, java, java, int.class);
        }
        pop(instruction.result(), wide);
    }

    private static OperatorInstruction operator(java.lang.classfile.Opcode opcode) {
        return OperatorInstruction.of(opcode);
    }

    private void count(LoweredInstruction instruction) {
        boolean wide = instruction.type().bits() == 64;
        Class<?> owner = wide ? Long.class : Integer.class;
        Class<?> java = wide ? long.class : int.class;
        push(instruction.argument(0), wide);
        switch (instruction.opcode()) {
            case POPC -> CallEmitter.invoke(code, owner, "bitCount", int.class, java);
            case CLZ -> CallEmitter.invoke(code, owner, "numberOfLeadingZeros", int.class, java);
            default -> {
                CallEmitter.invoke(code, owner, "reverse", java, java);
                pop(instruction.result(), wide);
                return;
            }
        }
        registers.popInt(instruction.result());
    }

    private void find(LoweredInstruction instruction) {
        ValueType type = instruction.type();
        boolean wide = type.bits() == 64;
        push(instruction.argument(0), wide);
        CallEmitter.invoke(code, BITS, "find" + IntegerEmitter.suffix(type), int.class, wide ? long.class : int.class);
        if (instruction.has(Modifier.SHIFTAMT)) {
            code.loadConstant(type.bits());
            CallEmitter.invoke(code, BITS, "shiftAmount", int.class, int.class, int.class);
        }
        registers.popInt(instruction.result());
    }

    private void field(LoweredInstruction instruction) {
        ValueType type = instruction.type();
        boolean wide = type.bits() == 64;
        Class<?> java = wide ? long.class : int.class;
        push(instruction.argument(0), wide);
        if (instruction.opcode() == Opcode.BFE) {
            registers.pushInt(instruction.argument(1));
            registers.pushInt(instruction.argument(2));
            CallEmitter.invoke(code, BITS, "extract" + IntegerEmitter.suffix(type), java, java, int.class, int.class);
        } else {
            push(instruction.argument(1), wide);
            registers.pushInt(instruction.argument(2));
            registers.pushInt(instruction.argument(3));
            CallEmitter.invoke(code, BITS, "insert" + type.bits(), java, java, java, int.class, int.class);
        }
        pop(instruction.result(), wide);
    }

    private void permute(LoweredInstruction instruction) {
        Modifier mode = instruction.firstOf(Modifier.F4E, Modifier.B4E, Modifier.RC8, Modifier.ECL, Modifier.ECR,
                Modifier.RC16);
        String name = switch (mode) {
            case null -> "index";
            case F4E -> "forward";
            case B4E -> "backward";
            case RC8 -> "replicate8";
            case ECL -> "edgeClampLeft";
            case ECR -> "edgeClampRight";
            default -> "replicate16";
        };
        ints(instruction, Permutation.class, name, 3);
    }

    private void dotProduct(LoweredInstruction instruction) {
        for (int i = 0; i < 3; i++) {
            registers.pushInt(instruction.argument(i));
        }
        code.loadConstant(instruction.types().get(0).isSigned() ? 1 : 0);
        code.loadConstant(instruction.types().get(1).isSigned() ? 1 : 0);
        if (instruction.opcode() == Opcode.DP4A) {
            CallEmitter.invoke(code, DotProducts.class, "dp4a", int.class, int.class, int.class, int.class, boolean.class,
                    boolean.class);
        } else {
            code.loadConstant(instruction.has(Modifier.HI) ? 1 : 0);
            CallEmitter.invoke(code, DotProducts.class, "dp2a", int.class, int.class, int.class, int.class, boolean.class,
                    boolean.class, boolean.class);
        }
        registers.popInt(instruction.result());
    }
}
