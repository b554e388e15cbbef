package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.ptx.Instruction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Chooses where a function looks at the stop word: at every branch that goes back in the text, since every cycle has one, except in loops that are
 * shown to end soon. Innermost loops that count to a bound in 32 bits look between parts of their iterations (see {@link LoopParts}); those of a
 * tenant that is alone do not look. Short loops of one block that take fuel take it once for several passes, which are written in sequence.
 * Immutable.
 */
public final class Loops {
    private static final int AROUND_COUNTED = 64;
    private static final int AROUND_CALLS = 256;
    /** A pass may take a millisecond. */
    private static final int AROUND_SLEEP = 1024;
    /** Instructions between two looks, for each of what they are summed over: loops that take fuel, parts of loops, loops that soon end. */
    private static final long BETWEEN_LOOKS = 1L << 20;
    /** Maximum work in a part of an inner loop; the outer loop looks only after some of its own iterations. */
    private static final long INNER_PART = 1L << 14;
    /** Maximum additional cost of accesses in a part, and in loops that take fuel before the first look: see {@link AccessCost}. */
    private static final long SLOW = 1L << 15;
    /** As above, for loops that end soon, which usually make fewer passes than their bound. */
    private static final long SLOW_SOON = 1L << 17;
    /** Fewest rounds of a part. */
    private static final long LEAST_ROUNDS = 4;
    /** Average number of instructions that a fenced instruction becomes, measured at 2.2 to 3.4. */
    private static final long FENCED = 4;
    /** Passes that are written for one look, at most, and instructions of all of them: with more the look is too little of a pass to matter. */
    private static final int MOST_COPIES = 4;
    private static final int MOST_REPEATED = 64;

    /** A loop whose passes are written so often for one look; {@code steady} is null where it is not known ahead how many more there are. */
    private record Repeated(RepeatedPass pass, int copies, SteadyLoop steady) {
    }

    private final LoopText text;
    private final Map<Instruction, Integer> weights = new IdentityHashMap<>();
    private final Map<Instruction, Repeated> repeated = new IdentityHashMap<>();
    private final Map<String, Instruction> steadyHeads = new HashMap<>();
    private final Map<Instruction, LoopBound> bounds = new IdentityHashMap<>();
    private final List<PartedLoop> parted = new ArrayList<>();
    private final boolean alone;
    private final long[] slow;
    private int countedLoops;
    private long fuel = WindowConstants.GO_ON;
    private long slowAgain;

    /**
     * Chooses the looks of a function.
     *
     * @param counting whether counted loops are treated differently
     * @param alone    whether no other tenant waits for the tenant's kernels
     */
    public Loops(LoopText text, AddressFacts facts, boolean counting, boolean alone) {
        this.text = text;
        this.alone = alone;
        List<Instruction> flat = text.instructions();
        slow = AccessCost.sums(flat);
        if (!text.hasLoops()) {
            return;
        }
        int[] ended = new int[flat.size() + 1];
        long[] work = new long[flat.size() + 1];
        long[] passes = new long[flat.size() + 1];
        long soon = 0;
        long slowSoon = 0;
        countedLoops = (int) IntStream.range(0, counting ? flat.size() : 0).filter(i -> text.start(i) >= 0 && text.counted(i).isPresent()).count();
        for (int i = 0; i < flat.size(); i++) {
            long rounds = counting && text.start(i) >= 0 ? endsByItself(facts, flat.get(i)) : 0;
            // Of loops in sequence, only some may omit the look, however short each is.
            boolean itself = rounds > 0 && (alone || soon + rounds * bodyWork(i) <= BETWEEN_LOOKS && slowSoon + rounds * slow(i) <= SLOW_SOON);
            soon += itself ? rounds * bodyWork(i) : 0;
            slowSoon += itself ? rounds * slow(i) : 0;
            boolean ends = itself || counting && text.start(i) >= 0 && isCounted(i);
            ended[i + 1] = ended[i] + (ends ? 1 : 0);
            long made = itself ? rounds : ends ? rounds(i) : 0;
            work[i + 1] = work[i] + FENCED + slow[i + 1] - slow[i] + made * bodyWork(i);
            passes[i + 1] = passes[i] + slow[i + 1] - slow[i] + made * slow(i);
        }
        long slowOfFuel = 0;
        for (int i = 0; i < flat.size(); i++) {
            int start = text.start(i);
            if (start >= 0 && !LoopText.any(ended, i, i + 1)) {
                int weight = text.sleeps(start, i) ? AROUND_SLEEP : text.calls(start, i) ? AROUND_CALLS
                        : LoopText.any(ended, start, i) ? AROUND_COUNTED : 1;
                int copies = repeat(i);
                weights.put(flat.get(i), alone ? weight : Math.max(weight, weight(copies * (work[i + 1] - work[start]))));
                long pass = copies * (passes[i + 1] - passes[start]);
                slowOfFuel = Math.max(slowOfFuel, (pass + weights.get(flat.get(i)) - 1) / weights.get(flat.get(i)));
            }
        }
        fuel = alone || slowOfFuel == 0 ? WindowConstants.GO_ON : Math.clamp(SLOW / slowOfFuel, 1, WindowConstants.GO_ON);
        slowAgain = passes[flat.size()] - slow[flat.size()] + fuel * slowOfFuel;
    }

    /** Has passes written in sequence if that is possible and worthwhile; returns how many. */
    private int repeat(int at) {
        int copies = Integer.highestOneBit(Math.min(MOST_COPIES, MOST_REPEATED / (at - text.start(at) + 1)));
        RepeatedPass pass = copies > 1 ? text.repeated(at, copies) : null;
        if (pass == null) {
            return 1;
        }
        Instruction branch = text.instructions().get(at);
        SteadyLoop steady = SteadyLoop.of(text.instructions().subList(text.start(at), at), branch);
        repeated.put(branch, new Repeated(pass, copies, steady));
        if (steady != null) {
            steadyHeads.put(text.lastName(text.start(at)), branch);
        }
        return copies;
    }

    /** The fuel of a pass that does this work, so that the passes between two looks do no more than may be between them. */
    private static int weight(long work) {
        long passes = BETWEEN_LOOKS / WindowConstants.GO_ON;
        return (int) Math.min(WindowConstants.GO_ON, (work + passes - 1) / passes);
    }

    /** The work of one pass of the loop that is closed at a place. */
    private long bodyWork(int at) {
        return text.start(at) < 0 ? 0 : FENCED * (at - text.start(at) + 1) + slow(at);
    }

    /** Returns the additional cost of accesses. */
    private long slow(int at) {
        return text.start(at) < 0 ? 0 : slow[at + 1] - slow[text.start(at)];
    }

    private long rounds(int at) {
        long all = BETWEEN_LOOKS / Math.max(1, countedLoops);
        long most = (text.depth(at) > 1 ? Math.min(INNER_PART, all) : all) / (bodyWork(at) - slow(at));
        most = slow(at) == 0 ? most : Math.min(most, Math.min(SLOW, all) / slow(at));
        return Math.max(LEAST_ROUNDS, Math.min(PartedLoop.ROUNDS, most));
    }

    private long endsByItself(AddressFacts facts, Instruction branch) {
        return !alone ? facts.endsSoon(branch) : facts.endsByItself(branch) ? 1 : 0;
    }

    private boolean isCounted(int at) {
        LoopText.Counted counted = text.counted(at).orElse(null);
        if (counted == null || !alone && !PartedLoop.fit(counted)) {
            return false;
        }
        bounds.put(counted.compare(), counted.bound());
        if (!alone) {
            parted.add(new PartedLoop(text.instructions().get(at), counted, rounds(at)));
        }
        return true;
    }

    /** The rounds of a part of the loop that a branch closes, at most; 0: it has no parts. */
    public long partRounds(Instruction branch) {
        return parted.stream().filter(loop -> loop.branch() == branch).mapToLong(PartedLoop::rounds).findFirst().orElse(0);
    }

    /** Loops that look between parts of their rounds, in the order of the text. */
    List<PartedLoop> parted() {
        return parted;
    }

    /** Returns the index of the first instruction of the loop that begins at a label. */
    int place(String label) {
        return text.place(label);
    }

    /** Returns how much fuel a branch takes, or 0 if it need not look. */
    public int weight(Instruction branch) {
        return weights.getOrDefault(branch, 0);
    }

    /** Returns how many passes are written before a branch takes fuel and goes back, at least 1. */
    public int copies(Instruction branch) {
        Repeated loop = repeated.get(branch);
        return loop == null ? 1 : loop.copies();
    }

    /** The counter of a loop whose passes are written several times, if it says ahead how many more there are; or null. */
    public SteadyLoop steady(Instruction branch) {
        Repeated loop = repeated.get(branch);
        return loop == null ? null : loop.steady();
    }

    /** The branch that closes the loop whose first instruction follows a label, if {@link #steady} is known of that; or null. */
    public Instruction steadyBehind(String label) {
        return steadyHeads.get(label);
    }

    /** An instruction of a loop that a branch closes, as it is written in passes but the first. */
    public Instruction again(Instruction branch, Instruction instruction) {
        return repeated.get(branch).pass().again(instruction);
    }

    /** Returns the change of a comparison, or null. */
    public LoopBound bound(Instruction compare) {
        return bounds.get(compare);
    }

    /** Returns the initial fuel of the function. */
    public long fuel() {
        return fuel;
    }

    /** The work of repeated accesses before the function's first look, in instructions. */
    public long slowAgain() {
        return slowAgain;
    }

    /** Returns whether any branch takes fuel. */
    public boolean any() {
        return !weights.isEmpty();
    }
}
