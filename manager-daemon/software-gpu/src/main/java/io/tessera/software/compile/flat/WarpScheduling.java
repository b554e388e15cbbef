package io.tessera.software.compile.flat;

import io.tessera.software.matrix.WarpSequence;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.RegisterClass;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Brings tensor core instructions of straight code together: instructions between them that use only registers, such as those for addresses, are moved before
 * them. A thread then stops once for all of them instead of once for each. Used once.
 */
final class WarpScheduling {
    private final List<Step> steps;
    private final List<Step> ordered = new ArrayList<>();
    private final List<Step> waiting = new ArrayList<>();
    private final BitSet read = new BitSet();
    private final BitSet written = new BitSet();

    private WarpScheduling(List<Step> steps) {
        this.steps = steps;
    }

    /** Returns the steps in their new order; those that are branch targets keep their places. */
    static List<Step> order(List<Step> steps) {
        return new WarpScheduling(steps).order();
    }

    private List<Step> order() {
        BitSet targets = new BitSet();
        steps.forEach(step -> CodeFlow.branches(step).forEach(targets::set));
        for (int i = 0; i < steps.size(); i++) {
            if (targets.get(i)) {
                flush();
            }
            add(steps.get(i));
        }
        flush();
        return ordered;
    }

    private void add(Step step) {
        BitSet reads = new BitSet();
        BitSet writes = new BitSet();
        RegisterUse.reads(step, reads::set);
        RegisterUse.writes(step, writes::set);
        if (meets(step)) {
            if (reads.intersects(written) && addressIn((Step.Plain) step)) {
                flush();
            }
            waiting.add(step);
            read.or(reads);
            written.or(writes);
        } else {
            boolean passes = isOfRegistersOnly(step) && !reads.intersects(written) && !writes.intersects(read)
                    && !writes.intersects(written);
            if (!passes) {
                flush();
            }
            ordered.add(step);
        }
    }

    private void flush() {
        ordered.addAll(waiting);
        waiting.clear();
        read.clear();
        written.clear();
    }

    /** Returns whether the step's address comes out of what waits. */
    private boolean addressIn(Step.Plain step) {
        for (LoweredOperand argument : step.instruction().arguments()) {
            if (argument instanceof LoweredOperand.Address(LoweredOperand.Register register, String _, boolean _, long _) && register != null
                    && written.get(step.slotBase() + register.slot())) {
                return true;
            }
        }
        return false;
    }

    private static boolean meets(Step step) {
        return step instanceof Step.Plain plain && WarpSequence.takes(plain.instruction().opcode())
                && plain.instruction().guard() == null;
    }

    /** Returns whether a step computes registers from registers and constants, so that it does not matter when. */
    private static boolean isOfRegistersOnly(Step step) {
        if (!(step instanceof Step.Plain plain)) {
            return false;
        }
        LoweredInstruction instruction = plain.instruction();
        return isArithmetic(instruction.opcode()) && instruction.arguments().stream()
                .allMatch(argument -> argument instanceof LoweredOperand.Immediate
                        || argument instanceof LoweredOperand.Address address && address.register() == null
                        || argument instanceof LoweredOperand.Register register && register.registerClass() != RegisterClass.BITS128);
    }

    private static boolean isArithmetic(Opcode opcode) {
        return switch (opcode) {
            case ADD, SUB, MUL, MAD, FMA, MIN, MAX, ABS, NEG, AND, OR, XOR, NOT, LOP3, SHL, SHR, SHF, BFE, BFI, PRMT, SETP, SELP,
                    MOV, CVT ->
                true;
            default -> false;
        };
    }
}
