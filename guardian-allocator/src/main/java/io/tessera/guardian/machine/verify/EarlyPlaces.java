package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.ResultTiming;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds how early before its access a fence may be placed. It must be in the same block, after the last instruction that writes the address register,
 * the access's predicate, or a register that is added, and at a point where no pending write to these is in flight. A fence that is not directly
 * before its access costs no stall. One owner thread.
 */
public final class EarlyPlaces {
    /** More than compilers leave between a computation and an access that waits for it. */
    private static final int MOST = 32;
    /** Some results of a fixed latency, such as those of {@code CS2R}, arrive some cycles later than those of arithmetic. */
    private static final int MARGIN = 6;

    private final SectionFlow flow;
    /** Indexed by the first candidate instruction. */
    private final Map<Integer, List<Change>> from = new HashMap<>();
    private final BitSet starts = new BitSet();
    /** Changes for which no place was found yet. */
    private final List<Change> open = new ArrayList<>();
    private final Map<Change, Integer> found = new HashMap<>();
    private int next;
    private int block;

    /** A register that a fence changes before an access. */
    public record Change(int access, int register) {
    }

    EarlyPlaces(SectionFlow flow) {
        this.flow = flow;
    }

    /** Requests a place at which a register may be changed for an access. */
    void wanted(int access, int register) {
        int first = first(access, register);
        if (first < access) {
            starts.set(first);
            from.computeIfAbsent(first, _ -> new ArrayList<>()).add(new Change(access, register));
        }
    }

    private int first(int access, int register) {
        long low = flow.low(access);
        boolean sum = isHighWord(access, register) && SummedAddresses.adds(flow, access);
        for (int i = access; i > 0 && i > access - MOST; i--) {
            if (flow.isLeader(i) || !mayPass(i - 1, register, InstructionWord.predicate(low))
                    || sum && flow.operation(i - 1).writesUniform(flow.low(i - 1), SummedAddresses.added(flow, access) + 1)
                    || hasFenceOfItsOwn(i - 1, register, sum)) {
                return i;
            }
        }
        return Math.max(0, access - MOST);
    }

    private boolean mayPass(int at, int register, int predicate) {
        MachineOpcode operation = flow.operation(at);
        boolean plain = switch (operation.kind()) {
            case PLAIN, ON_CHIP, GLOBAL, GLOBAL_REGISTER, SPACE_TEST, TENSOR -> operation.registers() != MachineOpcode.MANY;
            default -> false;
        };
        return plain && !operation.writes(flow.low(at), register) && !InstructionWord.handsOn(flow.low(at), flow.high(at), register)
                && (ResultTiming.predicates(flow.low(at), flow.high(at)) >>> (predicate & 7) & 1) == 0;
    }

    private boolean isHighWord(int access, int register) {
        return flow.operation(access).isGlobal() && InstructionWord.source(flow.low(access)) + 1 == register;
    }

    /** Returns whether an access needs its own fence. The fence of a sum holds for one uniform register, so two accesses by one register cannot share it. */
    private boolean hasFenceOfItsOwn(int at, int register, boolean sum) {
        return isHighWord(at, register) && (sum || SummedAddresses.adds(flow, at));
    }

    /**
     * Checks the places before an instruction that come after those already checked.
     *
     * @param state state in flight there, except for the time
     * @param row   the first instruction of the sequence of blocks
     */
    void look(RegistersInFlight state, IssueTable table, int row, int until) {
        for (int at = Math.max(next, row); at <= until && !(open.isEmpty() && from.isEmpty()); at++) {
            block = flow.isLeader(at) ? at : block;
            if (starts.get(at)) {
                open.addAll(from.get(at));
            }
            if (!open.isEmpty()) {
                state.at(table.cycles(row, at));
                int place = at;
                boolean known = table.cycles(block, at) >= MARGIN + ResultTiming.LEAST_LATENCY; // at the start of a block, the time is not exactly known
                open.removeIf(change -> change.access() <= place || known && isFree(state, change, place));
            }
        }
        next = until + 1;
    }

    private boolean isFree(RegistersInFlight state, Change change, int place) {
        boolean free = state.isThere(change.register(), InstructionWord.predicate(flow.low(change.access())), MARGIN);
        if (free) {
            found.put(change, place);
        }
        return free;
    }

    /** The first instructions before which registers may be changed. */
    Map<Change, Integer> found() {
        return found;
    }
}
