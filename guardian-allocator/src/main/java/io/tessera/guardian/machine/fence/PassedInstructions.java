package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.verify.SummedAddresses;
import java.util.Map;
import java.util.Set;

/**
 * Finds instructions after an access that may be placed before it, so that they are issued while its fence waits for its own results. Only arithmetic
 * that is independent of the access qualifies; it is issued no earlier than before, since the fence comes first. One owner thread.
 */
final class PassedInstructions {
    private static final Set<String> ARITHMETIC = Set.of("FFMA", "FMUL", "FADD", "HFMA2", "HADD2", "HMUL2", "IMAD");
    private static final int NO_SCOREBOARD = 7;
    /** Registers of the data of a store. */
    private static final int MOST_DATA = 4;
    /** Instructions behind an access by which it has read its registers, also where compilers know that without a scoreboard. */
    private static final int MOST_READING = 40;

    private final SectionFlow flow;
    private final Map<Integer, Integer> ends;

    /** Creates the analysis of a section, of which some instructions end the context. */
    PassedInstructions(SectionFlow flow, Map<Integer, Integer> ends) {
        this.flow = flow;
        this.ends = ends;
    }

    /** Returns whether an instruction may be placed before an access, if all between them may. */
    boolean mayPass(int access, int at) {
        boolean later = InstructionWord.stall(flow.high(access)) <= Encoding.APART; // else the first one would be issued earlier than before
        if (at >= flow.count() || flow.isLeader(at) || ends.containsKey(at) || flow.operation(access).registers() != 0 || !later
                || !flow.operation(access).isGlobal()) {
            return false;
        }
        MachineOpcode operation = flow.operation(at);
        long high = flow.high(at);
        boolean plain = operation.kind() == Kind.PLAIN && ARITHMETIC.contains(operation.name()) && InstructionWord.waits(high) == 0
                && InstructionWord.writeScoreboard(high) == NO_SCOREBOARD && InstructionWord.readScoreboard(high) == NO_SCOREBOARD
                && !InstructionWord.handsOn(flow.low(at), high, InstructionWord.source(flow.low(access)) + 1)
                && !(isCopy(access) && InstructionWord.handsOn(flow.low(at), high, InstructionWord.destination(flow.low(access))));
        return plain && !changes(access, at) && hasRead(access, at);
    }

    /**
     * Returns whether an instruction writes a register that an access reads: its address, its data or (for a copy to shared memory) the address
     * there, and its uniform registers.
     */
    private boolean changes(int access, int at) {
        long low = flow.low(access);
        int uniform = SummedAddresses.added(flow, access);
        boolean ofUniform = flow.operation(access).kind() == Kind.GLOBAL
                && (flow.operation(at).writesUniform(flow.low(at), uniform) || flow.operation(at).writesUniform(flow.low(at), uniform + 1));
        if (ofUniform) {
            return true;
        }
        boolean copy = isCopy(access);
        long high = flow.high(access);
        int data = copy ? InstructionWord.destination(low) : (int) (InstructionWord.hasWideImmediate(low, high) ? high : low >>> 32) & 0xff;
        return changes(at, InstructionWord.source(low), 2) || changes(at, data, copy ? 1 : MOST_DATA);
    }

    private boolean isCopy(int access) {
        return "LDGSTS".equals(flow.operation(access).name());
    }

    private boolean changes(int at, int first, int count) {
        for (int register = first; register < Math.min(first + count, InstructionWord.ZERO_REGISTER); register++) {
            if (flow.operation(at).writes(flow.low(at), register)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether no instruction may write the registers of an access soon, although the access comes later than before. Accesses read their
     * registers in the order of the code, so the scoreboard of a later access also covers this one.
     */
    private boolean hasRead(int access, int at) {
        int boards = boards(access);
        for (int i = at + 1; i <= at + MOST_READING; i++) {
            if (i >= flow.count() || flow.isLeader(i)) {
                return false;
            }
            if ((InstructionWord.waits(flow.high(i)) & boards) != 0) {
                return true;
            }
            if (changes(access, i)) {
                return false;
            }
            boards |= flow.operation(i).isGlobal() ? boards(i) : 0;
        }
        return true;
    }

    /** Scoreboards that an access releases when it has read its registers, as bits. */
    private int boards(int access) {
        int board = InstructionWord.readScoreboard(flow.high(access));
        return board == NO_SCOREBOARD ? 0 : 1 << board;
    }
}
