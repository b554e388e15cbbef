package io.tessera.software.compile.flat;

import io.tessera.software.program.Function;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.Parameter;
import io.tessera.software.program.RegisterClass;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * A kernel with every direct call inlined: one sequence of steps, registers of all functions numbered together, frames
 * at fixed offsets of local memory, as a chain of calls would have put them. A thread can then be stopped anywhere
 * without a stack to save.
 */
public final class InlinedCode {
    /** Beyond this many steps a class would outgrow the JVM's 64 KB a method, and the JIT compiler's patience. */
    static final int MAX_STEPS = 4000;

    /** Bound on nested calls, which are inlined by recursion. Deeper ones run in the interpreter, which has no such bound. */
    private static final int MOST_OPEN = 200;

    private final Kernel kernel;
    private final List<Step> steps = new ArrayList<>();
    private final List<RegisterClass> registers = new ArrayList<>();
    private final Set<Function> open = Collections.newSetFromMap(new IdentityHashMap<>());

    private InlinedCode(Kernel kernel) {
        this.kernel = kernel;
    }

    /**
     * Flattens a kernel.
     *
     * @throws NotCompiledException if it calls indirectly, recursively or too deeply, or becomes too long
     */
    public static InlinedCode of(Kernel kernel) {
        InlinedCode flat = new InlinedCode(kernel);
        flat.append(kernel.entry(), 0, true);
        List<Step> ordered = WarpScheduling.order(flat.steps);
        for (int i = 0; i < ordered.size(); i++) {
            flat.steps.set(i, ordered.get(i));
        }
        return flat;
    }

    /** Returns the steps; the last one never falls through. */
    public List<Step> steps() {
        return steps;
    }

    /** Class of each register slot; null at the second slot of a 128-bit register. */
    public List<RegisterClass> registers() {
        return registers;
    }

    /** Appends a function's code; returns nothing, leaves the steps so that the next one is where it returns to. */
    private void append(Function function, long frameBase, boolean entry) {
        if (!open.add(function)) {
            throw new NotCompiledException("recursion through " + function.name());
        }
        if (open.size() > MOST_OPEN) {
            throw new NotCompiledException("more than " + MOST_OPEN + " calls within each other");
        }
        int slotBase = registers.size();
        registers.addAll(function.registers());
        if (function.frameBytes() > 0) {
            steps.add(new Step.Enter(frameBase + function.frameBytes()));
        }
        List<LoweredInstruction> code = function.code();
        int[] begins = new int[code.size()];
        List<Integer> branches = new ArrayList<>();
        List<Integer> returns = new ArrayList<>();
        for (int i = 0; i < code.size(); i++) {
            begins[i] = steps.size();
            LoweredInstruction instruction = code.get(i);
            switch (instruction.opcode()) {
                case BRA, BRX -> {
                    branches.add(steps.size());
                    steps.add(new Step.Plain(instruction, slotBase, frameBase, List.of()));
                }
                case RET -> {
                    if (!entry) {
                        returns.add(steps.size());
                    }
                    steps.add(new Step.Plain(instruction, slotBase, frameBase, List.of()));
                }
                case CALL -> call(function, instruction, slotBase, frameBase);
                case CALL_INDIRECT -> throw new NotCompiledException("indirect call");
                default -> steps.add(new Step.Plain(instruction, slotBase, frameBase, List.of()));
            }
            if (steps.size() > MAX_STEPS) {
                throw new NotCompiledException("more than " + MAX_STEPS + " instructions");
            }
        }
        for (int place : branches) {
            LoweredInstruction branch = ((Step.Plain) steps.get(place)).instruction();
            List<Integer> targets = branch.arguments().stream().filter(LoweredOperand.Target.class::isInstance)
                    .map(target -> begins[((LoweredOperand.Target) target).instruction()]).toList();
            steps.set(place, new Step.Plain(branch, slotBase, frameBase, targets));
        }
        for (int place : returns) {
            steps.set(place, new Step.Jump(((Step.Plain) steps.get(place)).instruction(), slotBase, steps.size()));
        }
        open.remove(function);
    }

    private void call(Function caller, LoweredInstruction call, int slotBase, long frameBase) {
        Function callee = kernel.functions().get(((LoweredOperand.Function) call.argument(0)).index());
        long calleeBase = frameBase + caller.frameBytes();
        int guard = steps.size();
        if (call.guard() != null) {
            steps.add(new Step.SkipCall(call, slotBase, -1));
        }
        for (int i = 0; i < callee.parameters().size(); i++) {
            Parameter parameter = callee.parameters().get(i);
            LoweredOperand.FrameSlot argument = (LoweredOperand.FrameSlot) call.argument(i + 1);
            steps.add(new Step.Copy(frameBase + argument.offset(), calleeBase + parameter.offset(),
                    parameter.bytes()));
        }
        append(callee, calleeBase, false);
        for (int i = 0; i < callee.results().size() && i < call.results().size(); i++) {
            Parameter result = callee.results().get(i);
            LoweredOperand.FrameSlot slot = (LoweredOperand.FrameSlot) call.results().get(i);
            steps.add(new Step.Copy(calleeBase + result.offset(), frameBase + slot.offset(), result.bytes()));
        }
        if (call.guard() != null) {
            steps.set(guard, new Step.SkipCall(call, slotBase, steps.size()));
        }
    }

    /** Returns whether the step is an instruction of this operation. */
    static boolean is(Step step, Opcode opcode) {
        return step instanceof Step.Plain plain && plain.instruction().opcode() == opcode;
    }
}
