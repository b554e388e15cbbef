package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.CarriedPointer;
import io.tessera.guardian.fence.proof.Derivation;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Registers that hold pointers fenced where they are defined: see {@code AddressFacts}. Not thread-safe. */
public final class Shadows {
    private final FunctionContext context;
    private final Map<String, Operand.Register> shadows = new HashMap<>();
    private final Map<Instruction, List<BaseFence>> bases = new IdentityHashMap<>();
    private final Map<Instruction, Derivation> derivations = new IdentityHashMap<>();
    private final Map<String, List<Operand.Register>> carried = new HashMap<>();

    /** Creates the shadows of one function. Only the modes that force an address into the window have shadows. */
    public Shadows(FunctionContext context) {
        this.context = context;
        boolean used = context.mode() == FenceMode.MASK || context.mode() == FenceMode.MODULO;
        if (used) {
            for (BaseFence base : context.facts.baseFences()) {
                bases.computeIfAbsent(base.definition(), d -> new ArrayList<>(1)).add(base);
                declare(base.register().name());
            }
            for (Derivation derivation : context.facts.derivations()) {
                derivations.put(derivation.instruction(), derivation);
                declare(((Operand.Register) derivation.instruction().operands().getFirst()).name());
            }
            for (CarriedPointer pointer : context.facts.carried()) {
                String head = ((Operand.Symbol) pointer.branch().operands().getFirst()).name();
                carried.computeIfAbsent(head, name -> new ArrayList<>(1)).add(pointer.pointer());
            }
        }
    }

    private void declare(String register) {
        shadows.computeIfAbsent(register, r -> context.code.wide());
    }

    /** The shadow of a register, or null. */
    Operand.Register of(Operand.Register register) {
        return shadows.get(register.name());
    }

    /** Repeats an instruction on shadows, where the facts say so. */
    public void before(Instruction instruction) {
        Derivation derivation = derivations.get(instruction);
        if (derivation == null) {
            return;
        }
        List<Operand> operands = new ArrayList<>(instruction.operands());
        Operand.Register pointer = (Operand.Register) operands.get(derivation.pointer());
        operands.set(0, of((Operand.Register) operands.getFirst()));
        operands.set(derivation.pointer(), of(pointer));
        context.cache.written((Operand.Register) operands.getFirst());
        context.code.add(new Instruction(instruction.guard(), instruction.opcode(), instruction.modifiers(), operands,
                instruction.line()));
    }

    /** Before a label: where a part of a loop begins there, fences what the part carries. */
    public void before(Label label, WindowFence window) {
        for (Operand.Register pointer : carried.getOrDefault(label.name(), List.of())) {
            context.counts.fence(KernelReport.Fence.BASE);
            window.into(of(pointer), of(pointer));
        }
    }

    /** Returns whether an instruction reads a parameter of a kernel, which is the same for all threads. */
    private boolean isParameter(Instruction instruction) {
        return context.function.kind() == PtxFunction.Kind.ENTRY && instruction.opcode().equals("ld")
                && instruction.space().filter(space -> space == StateSpace.PARAM).isPresent();
    }

    /** Fences what an instruction defined, where the facts say so. */
    public void after(Instruction instruction, WindowFence window) {
        for (BaseFence base : bases.getOrDefault(instruction, List.of())) {
            Operand.Register shadow = of(base.register());
            context.cache.written(shadow);
            if (base.trusted()) {
                context.code.emit("mov.b64", shadow, base.register());
                continue;
            }
            context.counts.fence(KernelReport.Fence.BASE);
            window.into(shadow, base.again() ? shadow : base.register(), isParameter(instruction));
            if (base.alignmentBytes() > 1) {
                context.code.emit("and.b64", shadow, shadow, Code.number(-base.alignmentBytes()));
            }
        }
    }
}
