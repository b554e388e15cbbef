package io.tessera.software.compile;

import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.compile.flat.RegisterUse;
import io.tessera.software.compile.flat.Step;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.interpret.DetachedInstruction;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Emits a rare instruction as a call of the interpreter: its registers go into an array and come back from it. The
 * kernel around it stays compiled.
 */
final class InterpretedEmitter {
    private final CodeBuilder code;
    private final Registers registers;
    private final ClassConstants constants;
    private final SymbolAddresses addresses;

    InterpretedEmitter(CodeBuilder code, Registers registers, ClassConstants constants, SymbolAddresses addresses) {
        this.code = code;
        this.registers = registers;
        this.constants = constants;
        this.addresses = addresses;
    }

    /**
     * Emits it.
     *
     * @throws NotCompiledException if it needs more than its registers: control, carries, or the stack's end
     */
    void emit(Step.Plain step) {
        Opcode opcode = step.instruction().opcode();
        switch (opcode) {
            case STACKSAVE, STACKRESTORE, ALLOCA, CALL, CALL_INDIRECT, BRKPT ->
                throw new NotCompiledException(step.instruction().spelling());
            default -> {}
        }
        BitSet slots = new BitSet();
        RegisterUse.reads(step, slots::set);
        RegisterUse.writes(step, slots::set);
        int count = slots.cardinality();
        LoweredInstruction detached = renumber(step.instruction(), step.slotBase(), slots);
        code.loadConstant(count).newarray(TypeKind.LONG).astore(ReservedLocals.SAVED);
        registers.export(slots, ReservedLocals.SAVED);
        constants.push(code, new DetachedInstruction(detached, count, registers.frameBase(), addresses),
                DetachedInstruction.class);
        code.aload(ReservedLocals.THREAD).aload(ReservedLocals.SAVED);
        CallEmitter.invokeVirtual(code, DetachedInstruction.class, "execute", void.class, ThreadState.class, long[].class);
        registers.restore(slots, ReservedLocals.SAVED);
    }

    private static LoweredInstruction renumber(LoweredInstruction instruction, int base, BitSet slots) {
        List<LoweredOperand> results = renumber(instruction.results(), base, slots);
        List<LoweredOperand> arguments = renumber(instruction.arguments(), base, slots);
        return new LoweredInstruction(instruction.opcode(), instruction.types(), instruction.modifiers(),
                instruction.space(), results, arguments, null, instruction.line(), instruction.spelling());
    }

    private static List<LoweredOperand> renumber(List<LoweredOperand> operands, int base, BitSet slots) {
        List<LoweredOperand> renumbered = new ArrayList<>();
        for (LoweredOperand operand : operands) {
            renumbered.add(switch (operand) {
                case LoweredOperand.Register register -> renumber(register, base, slots);
                case LoweredOperand.Address address when address.register() != null -> new LoweredOperand.Address(
                        renumber(address.register(), base, slots), address.symbol(), address.frameRelative(),
                        address.offset());
                default -> operand;
            });
        }
        return renumbered;
    }

    private static LoweredOperand.Register renumber(LoweredOperand.Register register, int base, BitSet slots) {
        return new LoweredOperand.Register(register.registerClass(), slots.get(0, base + register.slot()).cardinality(),
                register.negated());
    }
}
