package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.analysis.Transfer;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntegerTransfer;
import io.tessera.guardian.fence.proof.value.IntervalArithmetic;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;

/** Instructions that make a pointer from a pointer and a number. Not thread-safe. */
final class PointerSums {
    /**
     * A sum of a pointer and an amount.
     *
     * @param pointer the pointer's value
     * @param operand the index of its operand
     * @param amount  the added amount, as a signed number
     */
    record Part(int pointer, int operand, AbstractValue amount) {
        /** Returns whether the amount is smaller than a guard band. */
        boolean isSmall() {
            return small(amount);
        }
    }

    private static final Part NONE = new Part(Ssa.NONE, 0, AbstractValue.TOP);

    private final FunctionAnalysis of;
    private final Transfer transfer;
    private final Part[] found;

    PointerSums(FunctionAnalysis of) {
        this.of = of;
        transfer = of.transfer();
        found = new Part[of.ssa().values()];
    }

    /** Returns the sum that a result is, or null. */
    Part of(int value) {
        if (found[value] == null) {
            Part part = of.ssa().kind(value) == SsaKind.RESULT && of.ssa().bits(value) == 64 ? find(value) : null;
            found[value] = part == null ? NONE : part;
        }
        return found[value] == NONE ? null : found[value];
    }

    private Part find(int value) {
        int index = of.ssa().instruction(value);
        Instruction instruction = of.code().instruction(index);
        ScalarType type = instruction.type().orElse(null);
        boolean plain = of.code().onlyResult(index) == of.ssa().register(value) && type != null
                && IntegerTransfer.isInteger(type) && !instruction.has("sat") && !instruction.has("cc");
        if (!plain) {
            return null;
        }
        return switch (instruction.opcode()) {
            case "mov" -> type.bits() == 64 ? part(index, instruction, 1, AbstractValue.constant(0)) : null;
            case "cvta" -> type.bits() == 64 && instruction.has("global")
                    ? part(index, instruction, 1, AbstractValue.constant(0)) : null;
            case "add" -> type.bits() == 64 ? added(index, instruction) : null;
            case "sub" -> type.bits() == 64
                    ? part(index, instruction, 1, IntervalArithmetic.negate(number(index, instruction, 2))) : null;
            case "mad" -> multiplied(index, instruction, type);
            default -> null;
        };
    }

    /** The smaller of two sums counts; where neither is small the first operand is taken for the pointer, as compilers write it. */
    private Part added(int index, Instruction instruction) {
        Part first = part(index, instruction, 1, number(index, instruction, 2));
        Part second = first != null && first.isSmall() ? null : part(index, instruction, 2, number(index, instruction, 1));
        return first == null || second != null && second.isSmall() ? second : first;
    }

    private static boolean small(AbstractValue amount) {
        return amount.bounded() && amount.low() >= -WindowConstants.GUARD_BYTES
                && amount.high() <= WindowConstants.GUARD_BYTES;
    }

    private Part multiplied(int index, Instruction instruction, ScalarType type) {
        boolean wide = instruction.has("wide") && type.bits() == 32;
        boolean low = instruction.has("lo") && type.bits() == 64;
        if (!wide && !low) {
            return null;
        }
        AbstractValue a = transfer.operand(index, instruction.operands().get(1), type.bits());
        AbstractValue b = transfer.operand(index, instruction.operands().get(2), type.bits());
        if (wide && type.kind() == ScalarType.Kind.SIGNED) {
            a = a.signed(32);
            b = b.signed(32);
        } else if (wide) {
            a = a.unsigned(32);
            b = b.unsigned(32);
        }
        return part(index, instruction, 3, IntervalArithmetic.multiply(a, b));
    }

    private AbstractValue number(int index, Instruction instruction, int operand) {
        return transfer.operand(index, instruction.operands().get(operand), 64).signed(64);
    }

    private Part part(int index, Instruction instruction, int operand, AbstractValue amount) {
        if (amount.variable() != null || !(instruction.operands().get(operand) instanceof Operand.Register register)) {
            return null;
        }
        int pointer = of.ssa().use(index, register.name());
        return pointer == Ssa.NONE || of.ssa().bits(pointer) != 64 ? null : new Part(pointer, operand, amount);
    }
}
