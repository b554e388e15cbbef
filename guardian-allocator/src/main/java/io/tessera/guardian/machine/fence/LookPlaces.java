package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.look.LookWords;
import io.tessera.guardian.machine.look.SectionLoops;
import java.util.Set;

/**
 * Finds places for looks at the stop word. A look needs a general register for the word. It takes one that the function has and does not use, or it stands directly before an
 * instruction that writes a register whole and does not read it: there nothing needs what the register had. One owner thread.
 */
final class LookPlaces implements SectionLoops.Placer {
    /** Arithmetic and loads that write all of their first result register. */
    private static final Set<String> WHOLE = Set.of("MOV", "IADD3", "LOP3", "IMAD", "IMAD.WIDE", "LEA", "SHF", "SEL", "FADD", "FMUL", "FFMA", "FSEL",
            "FMNMX", "VIADD", "VIMNMX",
            "PRMT", "CS2R", "S2R", "LDC", "LDS", "MUFU", "HADD2", "HMUL2", "HFMA2", "POPC", "IABS", "SGXT", "BMSK", "SHFL", "LDG", "LD", "LDL");
    /** Those of them with operands of two registers, and those without an operand but an address. */
    private static final Set<String> OF_PAIRS = Set.of("IMAD.WIDE", "LDG", "LD", "LDL", "LDS");
    private static final Set<String> LOADS = Set.of("LDG", "LD", "LDL", "LDS", "LDC", "S2R", "CS2R");

    private final SectionFlow flow;
    private final LookPlan plan;
    private final int spare;

    /**
     * Creates the places of a section.
     *
     * @param plan  receives the looks
     * @param spare a register that the function may use but does not; {@link InstructionWord#ZERO_REGISTER} if there is none
     */
    LookPlaces(SectionFlow flow, LookPlan plan, int spare) {
        this.flow = flow;
        this.plan = plan;
        this.spare = spare;
    }

    @Override
    public boolean place(int first, int last, int step) {
        int best = -1;
        int bestCycles = -1;
        int cycles = 0;
        for (int i = first; i <= last && bestCycles < LookWords.BEFORE_BRANCH; i++) {
            if (cycles > bestCycles && (spare < InstructionWord.ZERO_REGISTER && mayStandBefore(i) || mayStandBefore(i) && isFree(i))) {
                best = i;
                bestCycles = cycles;
            }
            cycles += InstructionWord.cycles(flow.high(i));
        }
        if (best < 0 || !mayStandBefore(first)) {
            return false;
        }
        boolean free = isFree(best);
        if (!free) {
            plan.useSpare();
        }
        plan.add(first, step, Math.max(Encoding.APART, LookWords.BEFORE_BRANCH - bestCycles), best,
                free ? InstructionWord.destination(flow.low(best)) : spare);
        return true;
    }

    /** Some instructions must directly follow others, or may have to. */
    private boolean mayStandBefore(int at) {
        Kind kind = flow.operation(at).kind();
        boolean pair = at > 0 && "LEPC".equals(flow.operation(at - 1).name());
        return !pair && kind != Kind.CALL_SYMBOL && kind != Kind.CALL_REGISTER && kind != Kind.COLLECTIVE && kind != Kind.MATRIX
                && !"ENDCOLLECTIVE".equals(flow.operation(at).name());
    }

    private boolean isFree(int at) {
        long low = flow.low(at);
        long high = flow.high(at);
        int register = InstructionWord.destination(low);
        boolean free = WHOLE.contains(flow.operation(at).name()) && InstructionWord.predicate(low) == InstructionWord.ALWAYS
                && register < InstructionWord.ZERO_REGISTER;
        int width = OF_PAIRS.contains(flow.operation(at).name()) ? 2 : 1;
        int operands = LOADS.contains(flow.operation(at).name()) ? 1 : InstructionWord.OPERANDS;
        for (int place = 0; place < operands; place++) {
            int operand = InstructionWord.operand(low, high, place);
            free &= operand == InstructionWord.ZERO_REGISTER || register < operand || register >= operand + width;
        }
        return free;
    }
}
