package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.verify.BoundPlaces;
import io.tessera.guardian.machine.verify.SummedAddresses;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Assigns the pair of uniform registers for the bounds of a pair that accesses add to their address: each gets its own while there are free pairs.
 * Bounds that a loop does not change are computed before the loop. Immutable.
 */
final class BoundPairs implements BoundPlaces {
    /** No pair is free, or none is needed. */
    static final BoundPairs NONE = new BoundPairs(new int[InstructionWord.ZERO_UNIFORM + 1], Map.of());
    private static final int[] NOTHING = {};
    private static final int NO_SCOREBOARD = 7;

    /** Indexed by the added pair; 0 if there is none. */
    private final int[] pairs;
    private final Map<Integer, int[]> before;

    private BoundPairs(int[] pairs, Map<Integer, int[]> before) {
        this.pairs = pairs;
        this.before = before;
    }

    /**
     * Chooses pairs for a section.
     *
     * @param used bits of uniform registers that are not free
     */
    static BoundPairs of(SectionFlow flow, long used) {
        int[] pairs = new int[InstructionWord.ZERO_UNIFORM + 1];
        long left = used;
        int last = InstructionWord.ZERO_UNIFORM;
        boolean shared = false;
        for (int i = 0; i < flow.count(); i++) {
            if (!SummedAddresses.adds(flow, i) || pairs[SummedAddresses.added(flow, i)] != 0) {
                continue;
            }
            int free = SpareRegisters.uniforms(left, 2);
            if (free == InstructionWord.ZERO_UNIFORM && last == InstructionWord.ZERO_UNIFORM) {
                return NONE;
            }
            shared |= free == InstructionWord.ZERO_UNIFORM;
            last = free == InstructionWord.ZERO_UNIFORM ? last : free; // the others share one
            left |= 3L << last;
            pairs[SummedAddresses.added(flow, i)] = last;
        }
        return last == InstructionWord.ZERO_UNIFORM ? NONE : new BoundPairs(pairs, beforeLoops(flow, pairs, shared ? last : 0));
    }

    /** Returns, by the last instruction before a loop, the pairs that are added in it and not changed. A pair that several share is omitted. */
    private static Map<Integer, int[]> beforeLoops(SectionFlow flow, int[] pairs, int shared) {
        Map<Integer, int[]> before = new HashMap<>();
        for (int end = 0; end < flow.count(); end++) {
            int start = flow.operation(end).kind() == Kind.BRANCH ? flow.target(end) : SectionFlow.NONE;
            if (start > 0 && start <= end && flow.following(start - 1) == start) {
                int last = end;
                int[] added = IntStream.rangeClosed(start, end).filter(i -> SummedAddresses.adds(flow, i) && SummedAddresses.hasRegister(flow, i))
                        .map(i -> SummedAddresses.added(flow, i)).distinct()
                        .filter(u -> pairs[u] != shared && stays(flow, u, start - 1, last)).toArray();
                before.merge(start - 1, added, (one, other) -> IntStream.concat(IntStream.of(one), IntStream.of(other)).distinct().toArray());
            }
        }
        before.values().removeIf(added -> added.length == 0);
        return before;
    }

    /** Returns whether a pair is not written from one instruction to another, and every instruction between takes a known time. */
    private static boolean stays(SectionFlow flow, int added, int from, int to) {
        for (int i = 0; i < flow.count(); i++) {
            boolean writes = flow.operation(i).writesUniform(flow.low(i), added) || flow.operation(i).writesUniform(flow.low(i), added + 1);
            if (writes && (i >= from && i <= to || InstructionWord.writeScoreboard(flow.high(i)) != NO_SCOREBOARD)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int of(int added) {
        return pairs[added];
    }

    @Override
    public int[] before(int at) {
        return before.isEmpty() ? NOTHING : before.getOrDefault(at, NOTHING);
    }
}
