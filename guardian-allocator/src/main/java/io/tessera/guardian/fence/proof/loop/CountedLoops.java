package io.tessera.guardian.fence.proof.loop;

import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.ControlFlow;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.value.TripCount;
import io.tessera.guardian.ptx.Instruction;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The branches of a function that close loops that are left after a bounded number of rounds, all loops in them included: after at most
 * {@link #MOST_ROUNDS} and {@link #MOST_NESTED_ROUNDS}, or after {@link #SOON}. Every other way to go on for ever passes a branch that is not among them: a branch counts only where it goes back to the head of its own loop. Immutable.
 */
public final class CountedLoops {
    /** Rounds that are short enough: what a 32-bit counter can count. */
    public static final long MOST_ROUNDS = 1L << 32;
    /** As above, for nested loops, all iterations together. */
    public static final long MOST_NESTED_ROUNDS = 1L << 38;
    /** Number of iterations, all together, that are over before any waiting client gives up, whatever is done in each. */
    public static final long SOON = 1L << 12;

    private final Map<Instruction, Long> counted;

    private CountedLoops(Map<Instruction, Long> counted) {
        this.counted = counted;
    }

    /**
     * Those that end within this many rounds.
     *
     * @param rounds of a loop itself
     * @param nested with all loops in it
     */
    public static CountedLoops of(FunctionAnalysis analysis, Induction induction, long rounds, long nested) {
        Map<Instruction, Long> found = new IdentityHashMap<>();
        List<LoopForest.Loop> loops = analysis.loops().irreducible() ? List.of() : analysis.loops().all();
        Map<LoopForest.Loop, Long> totals = new IdentityHashMap<>();
        // Inner heads come after outer ones: from the last on, what is inside is known.
        for (LoopForest.Loop loop : loops.reversed()) {
            long total = total(loop, induction.rounds(loop), rounds, nested, loops, totals);
            totals.put(loop, total);
            if (total < TripCount.UNBOUNDED) {
                for (int latch : loop.latches()) {
                    closing(analysis, latch, loop.head(), total, found);
                }
            }
        }
        int[] blockAt = loops.isEmpty() ? new int[0] : starts(analysis);
        for (int block = 0; block < analysis.flow().blocks() && !loops.isEmpty(); block++) {
            Instruction rotated = intoBody(analysis, block, blockAt, loops, totals);
            if (rotated != null) {
                found.put(rotated, totals.values().stream().filter(total -> total < TripCount.UNBOUNDED).max(Long::compare).orElse(nested));
            }
        }
        return new CountedLoops(found);
    }

    /**
     * A branch back in the text that closes no loop, of a loop that is entered in its middle: its last block stands first, and goes on to
     * the head. Every time the branch is taken is a round of a loop that contains it: if the innermost of these is counted, and the
     * others have branches of their own that go back to their heads, those look at the stop word.
     */
    private static Instruction intoBody(FunctionAnalysis analysis, int block, int[] blockAt, List<LoopForest.Loop> loops,
            Map<LoopForest.Loop, Long> totals) {
        ControlFlow flow = analysis.flow();
        int last = flow.end(block) - 1;
        int[] targets = last < flow.start(block) ? new int[0] : analysis.code().targets(last);
        if (targets.length != 1 || targets[0] > last || !analysis.code().instruction(last).opcode().equals("bra")) {
            return null;
        }
        boolean innermostCounted = false;
        // Inner heads come after outer ones.
        for (LoopForest.Loop loop : loops.reversed()) {
            if (loop.contains(block) && loop.contains(blockAt[targets[0]])) {
                boolean closes = flow.start(loop.head()) == targets[0];
                if (closes || innermostCounted && !goesBack(analysis, loop)
                        || !innermostCounted && totals.getOrDefault(loop, TripCount.UNBOUNDED) == TripCount.UNBOUNDED) {
                    return null;
                }
                innermostCounted = true;
            }
        }
        return innermostCounted ? analysis.code().instruction(last) : null;
    }

    /** Blocks by their first instruction. */
    private static int[] starts(FunctionAnalysis analysis) {
        int[] blockAt = new int[analysis.code().size() + 1];
        for (int block = 0; block < analysis.flow().blocks(); block++) {
            if (analysis.flow().end(block) > analysis.flow().start(block)) {
                blockAt[analysis.flow().start(block)] = block;
            }
        }
        return blockAt;
    }

    /** Returns whether all back edges to a loop's head are branches that go back in the text. */
    private static boolean goesBack(FunctionAnalysis analysis, LoopForest.Loop loop) {
        for (int latch : loop.latches()) {
            int last = closingBranch(analysis, latch, loop.head());
            if (last < 0 || analysis.code().targets(last)[0] > last) {
                return false;
            }
        }
        return true;
    }

    /** Rounds of a loop and of all loops in it together, or unbounded if they are too many. */
    private static long total(LoopForest.Loop loop, long rounds, long mostRounds, long mostNested, List<LoopForest.Loop> loops,
            Map<LoopForest.Loop, Long> totals) {
        long inner = 0;
        for (LoopForest.Loop other : loops) {
            if (other != loop && loop.contains(other.head())) {
                long part = totals.getOrDefault(other, TripCount.UNBOUNDED);
                if (part == TripCount.UNBOUNDED) {
                    return TripCount.UNBOUNDED;
                }
                inner += part + 1;
            }
        }
        boolean few = rounds <= mostRounds && (inner == 0 || (rounds + 1) <= mostNested / inner);
        return few ? (rounds + 1) * (inner + 1) : TripCount.UNBOUNDED;
    }

    private static void closing(FunctionAnalysis analysis, int latch, int head, long total, Map<Instruction, Long> found) {
        int last = closingBranch(analysis, latch, head);
        if (last >= 0) {
            found.merge(analysis.code().instruction(last), total, Math::max);
        }
    }

    /** The branch by which control goes from a latch to the head, or -1; a latch without instructions stands for an edge. */
    public static int closingBranch(FunctionAnalysis analysis, int latch, int head) {
        ControlFlow flow = analysis.flow();
        int from = flow.start(latch) == flow.end(latch) && flow.predecessors(latch).length == 1
                ? flow.predecessors(latch)[0] : latch;
        if (flow.start(from) == flow.end(from)) {
            return -1;
        }
        int last = flow.end(from) - 1;
        int[] targets = analysis.code().targets(last);
        boolean goesThere = targets.length == 1 && targets[0] == flow.start(head)
                && analysis.code().instruction(last).opcode().equals("bra");
        return goesThere ? last : -1;
    }

    /** Returns whether the loop that a branch closes is shown to end; instructions are distinguished by identity. */
    public boolean endsByItself(Instruction branch) {
        return counted.containsKey(branch);
    }

    /** Returns the maximum number of iterations of the loop that a branch closes, including those of all inner loops; 0 if it is not shown to end. */
    public long rounds(Instruction branch) {
        return counted.getOrDefault(branch, 0L);
    }
}
