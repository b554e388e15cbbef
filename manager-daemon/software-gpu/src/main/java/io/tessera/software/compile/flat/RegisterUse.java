package io.tessera.software.compile.flat;

import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.RegisterClass;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntConsumer;

/** The register slots that a step reads and writes. Slots are numbered over the whole {@link InlinedCode}. */
public final class RegisterUse {
    private RegisterUse() {
    }

    /** Calls back with every slot that the step reads. */
    public static void reads(Step step, IntConsumer slot) {
        switch (step) {
            case Step.Plain(LoweredInstruction instruction, int base, long _, List<Integer> _) -> {
                instruction.arguments().forEach(argument -> operand(argument, base, slot));
                guard(instruction, base, slot);
            }
            case Step.Jump(LoweredInstruction instruction, int base, int _) -> guard(instruction, base, slot);
            case Step.SkipCall(LoweredInstruction instruction, int base, int _) -> guard(instruction, base, slot);
            case Step.Copy _,Step.Enter _ -> {}
        }
    }

    /** Adds every slot that the step writes whenever it is reached, which a guarded one does not. */
    static void kills(Step step, BitSet slots) {
        if (step instanceof Step.Plain plain && plain.instruction().guard() == null) {
            writes(step, slots::set);
        }
    }

    /** Calls back with every slot that the step may write. */
    public static void writes(Step step, IntConsumer slot) {
        if (step instanceof Step.Plain(LoweredInstruction instruction, int base, long _, List<Integer> _)) {
            for (LoweredOperand result : instruction.results()) {
                if (result instanceof LoweredOperand.Register register) {
                    register(register, base, slot);
                }
            }
        }
    }

    private static void guard(LoweredInstruction instruction, int base, IntConsumer slot) {
        if (instruction.guard() != null) {
            register(instruction.guard(), base, slot);
        }
    }

    private static void operand(LoweredOperand operand, int base, IntConsumer slot) {
        switch (operand) {
            case LoweredOperand.Register register -> register(register, base, slot);
            case LoweredOperand.Address address when address.register() != null -> register(address.register(), base, slot);
            default -> {}
        }
    }

    private static void register(LoweredOperand.Register register, int base, IntConsumer slot) {
        slot.accept(base + register.slot());
        if (register.registerClass() == RegisterClass.BITS128) {
            slot.accept(base + register.slot() + 1);
        }
    }
}
