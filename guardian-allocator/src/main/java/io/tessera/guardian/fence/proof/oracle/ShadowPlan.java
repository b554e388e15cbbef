package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.IntArray;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.loop.CountedLoops;
import io.tessera.guardian.fence.proof.loop.Induction;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.Offsets;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Decides which pointers get shadows (see {@link AddressFacts}) and how the shadows are made. A shadow is made by a fence where the pointer is
 * defined, or from the shadow of the pointer from which it is derived. The latter requires a proof that less than a guard band was added since the
 * last fence. Not thread-safe.
 */
final class ShadowPlan {
    private static final long GUARD = WindowConstants.GUARD_BYTES;
    private static final int DEEPEST = 400;
    private static final int LONGEST_CHAIN = 64;
    private static final int MOST_DEPTH = 6;
    /** A pointer that goes round a loop floats if it is followed at this many places at most: each has a fence then. */
    private static final int MOST_FLOATING_USES = 4;
    /** Number of iterations by which a verifier may overestimate a part. */
    private static final long SPARE_ROUNDS = 8;

    /** How a value's shadow is made. */
    enum Way {
        /** Not decided. */
        OPEN,
        /** No shadow. */
        NONE,
        /** Fenced after its definition. */
        FENCE,
        /** By the same instruction on the shadow of one operand. */
        DERIVE,
        /** As above, and the result is fenced. */
        REFENCE,
        /** It is the shadow of the same register on every way here. */
        MERGE
    }

    private final FunctionAnalysis of;
    private final Ssa ssa;
    private final Induction induction;
    private final PointerSums sums;
    private final Way[] ways;
    private final Offsets[] offsets;
    private final BitSet fenced = new BitSet();
    private final BitSet comesRound = new BitSet();
    private final BitSet everyRound = new BitSet();
    private final BitSet floating = new BitSet();
    private final BitSet floatingSteps = new BitSet();
    private final BitSet without = new BitSet();
    private final BitSet notCarried = new BitSet();
    private final Map<Integer, Instruction> carried = new HashMap<>();
    private final ToLongFunction<Instruction> parts;
    private boolean stale;
    private final LoopForest.Loop[] loopOf;

    ShadowPlan(FunctionAnalysis of, Induction induction, ToLongFunction<Instruction> parts) {
        this.of = of;
        ssa = of.ssa();
        this.induction = induction;
        this.parts = parts;
        sums = new PointerSums(of);
        ways = new Way[ssa.values()];
        offsets = new Offsets[ssa.values()];
        loopOf = new LoopForest.Loop[of.flow().blocks()];
        for (LoopForest.Loop loop : of.loops().all()) {
            loopOf[loop.head()] = loop;
        }
        reset();
    }

    /** Forgets all decisions but what was learnt from those that failed. */
    void reset() {
        stale = false;
        Arrays.fill(ways, Way.OPEN);
        Arrays.fill(offsets, null);
        carried.clear();
    }

    /** From the next {@link #reset} on, this value's shadow is fenced, not derived. */
    boolean fenceAt(int value) {
        boolean possible = ssa.kind(value) == SsaKind.RESULT && !fenced.get(value);
        fenced.set(value);
        return possible;
    }

    /** Returns whether a decision was revoked on which others may depend: then all have to be made again. */
    boolean isStale() {
        return stale;
    }

    /** The value whose shadow stands for this one's. */
    int owner(int value) {
        return ssa.origin(value);
    }

    Way way(int value) {
        return ways[value];
    }

    PointerSums sums() {
        return sums;
    }

    /** Returns the possible offsets of a value's shadow, or null if it has none. Makes the decisions that are still open. */
    Offsets of(int value) {
        return decide(owner(value), 0);
    }

    private Offsets decide(int value, int depth) {
        if (ways[value] != Way.OPEN) {
            return offsets[value];
        }
        boolean possible = !without.get(value) && ssa.bits(value) == 64 && depth < DEEPEST;
        if (!possible) {
            return settle(value, Way.NONE, null);
        }
        return switch (ssa.kind(value)) {
            case UNDEFINED, REFINED -> settle(value, Way.NONE, null);
            case RESULT -> result(value, depth);
            case GUARDED -> merge(value, depth);
            case PHI -> loopOf[ssa.block(value)] != null ? loopHead(value, loopOf[ssa.block(value)], depth)
                    : merge(value, depth);
        };
    }

    private Offsets settle(int value, Way way, Offsets found) {
        ways[value] = way;
        offsets[value] = found;
        return found;
    }

    private Offsets result(int value, int depth) {
        PointerSums.Part part = sums.of(value);
        if (part == null) {
            return settle(value, Way.FENCE, Offsets.INSIDE);
        }
        int from = owner(part.pointer());
        int rarer = Integer.compare(frequency(from), frequency(value));
        boolean small = !fenced.get(value) && part.isSmall();
        boolean floats = floatingSteps.get(value) && !fenced.get(value);
        boolean worth = rarer < 0 || rarer == 0 && (small || floats || comesRound.get(value));
        Offsets base = worth ? decide(from, depth + 1) : null;
        if (ways[value] != Way.OPEN) {
            // Decided meanwhile, on a way round a loop.
            return offsets[value];
        }
        Offsets sum = base == null || !small && !floats ? null : base.plus(part.amount());
        if (sum != null && (sum.fit(GUARD, 1) || sum.equals(Offsets.ANYWHERE))) {
            return settle(value, Way.DERIVE, sum);
        }
        // Fencing the shadow again leaves its low bits alone: they need not be cleared as those of the register.
        boolean again = base != null && part.amount().zeros() > 0;
        return settle(value, again ? Way.REFENCE : Way.FENCE, Offsets.INSIDE);
    }

    /** Several definitions meet: each needs a shadow. While it is decided, a cycle back to it finds none. */
    private Offsets merge(int value, int depth) {
        settle(value, Way.NONE, null);
        Offsets all = null;
        for (int input : ssa.inputs(value)) {
            if (input != Ssa.NONE) {
                Offsets one = decide(owner(input), depth + 1);
                if (one == null || ssa.register(owner(input)) != ssa.register(value)) {
                    return null;
                }
                all = all == null ? one : all.join(one);
            }
        }
        return all == null ? null : settle(value, Way.MERGE, all);
    }

    private Offsets loopHead(int phi, LoopForest.Loop loop, int depth) {
        Offsets entry = entry(phi, loop, depth);
        if (entry == null) {
            return settle(phi, Way.NONE, null);
        }
        if (ways[phi] != Way.OPEN) {
            return offsets[phi];
        }
        Offsets part = notCarried.get(phi) ? null : carried(phi, loop, depth);
        if (part != null) {
            return part;
        }
        if (!floating.get(phi) && !everyRound.get(phi)) {
            (mayFloat(phi, loop) ? floating : everyRound).set(phi);
            stale = true;
        }
        return floating.get(phi) ? floating(phi, loop, depth) : fencedRound(phi, loop, entry.join(Offsets.INSIDE), depth);
    }

    /** Fenced where a part of the loop begins, and moved by small steps in the part; null if it is not. */
    private Offsets carried(int phi, LoopForest.Loop loop, int depth) {
        int closing = loop.latches().length == 1 ? CountedLoops.closingBranch(of, loop.latches()[0], loop.head()) : -1;
        long rounds = closing < 0 ? 0 : parts.applyAsLong(of.code().instruction(closing));
        AbstractValue step = rounds == 0 ? null : induction.step(phi, loop);
        Offsets part = step == null || !step.bounded() ? null : farthest(step, rounds + SPARE_ROUNDS);
        BitSet steps = new BitSet();
        boolean sums = part != null && part.fit(GUARD, 1)
                && Arrays.stream(latchInputs(phi, loop)).allMatch(input -> chain(owner(input), phi, steps));
        if (sums) {
            floatingSteps.or(steps);
            settle(phi, Way.MERGE, part);
            if (Arrays.stream(latchInputs(phi, loop)).allMatch(input -> derivedFrom(phi, owner(input), depth))) {
                carried.put(phi, of.code().instruction(closing));
                return part;
            }
            stale = true;
        }
        notCarried.set(phi);
        ways[phi] = Way.OPEN;
        return null;
    }

    private static Offsets farthest(AbstractValue step, long rounds) {
        long low = Math.min(0, step.low());
        long high = Math.max(0, step.high());
        boolean near = low >= -GUARD / rounds && high <= GUARD / rounds;
        return near ? new Offsets(low * rounds, high * rounds) : null;
    }

    /** The branch that closes the loop in parts that carries a value's shadow, or null. */
    Instruction carriedBy(int value) {
        return carried.get(value);
    }

    /** Leaves the value unbounded: a value derived from it is fenced where it is dereferenced. */
    private Offsets floating(int phi, LoopForest.Loop loop, int depth) {
        settle(phi, Way.MERGE, Offsets.ANYWHERE);
        boolean derived = true;
        for (int input : latchInputs(phi, loop)) {
            derived = derived && derivedFrom(phi, owner(input), depth);
        }
        if (!derived) {
            floating.clear(phi);
            everyRound.set(phi);
            stale = true;
            return settle(phi, Way.NONE, null);
        }
        return Offsets.ANYWHERE;
    }

    /** Returns whether a pointer is carried around the loop by sums alone and is dereferenced at few places; records the sums. */
    private boolean mayFloat(int phi, LoopForest.Loop loop) {
        BitSet steps = new BitSet();
        for (int input : latchInputs(phi, loop)) {
            if (!chain(owner(input), phi, steps)) {
                return false;
            }
        }
        AbstractValue step = induction.step(phi, loop);
        boolean oneFence = step != null && step.bounded() && Offsets.INSIDE.plus(step).join(Offsets.INSIDE).fit(GUARD, 1);
        BitSet followed = new BitSet();
        for (int block = loop.body().nextSetBit(0); block >= 0; block = loop.body().nextSetBit(block + 1)) {
            for (int index = of.flow().start(block); index < of.flow().end(block); index++) {
                follow(index, phi, followed);
            }
        }
        // One fence per iteration in the chain costs less than one at each of several places.
        if (followed.cardinality() > (oneFence ? 1 : MOST_FLOATING_USES)) {
            return false;
        }
        floatingSteps.or(steps);
        return true;
    }

    private void follow(int index, int phi, BitSet followed) {
        for (Operand operand : of.code().instruction(index).operands()) {
            if (operand instanceof Operand.Address(Operand.Register base, long _)) {
                int value = ssa.use(index, base.name());
                if (value != Ssa.NONE && ssa.bits(value) == 64 && chain(owner(value), phi, new BitSet())) {
                    followed.set(owner(value));
                }
            }
        }
    }

    /** Returns whether a value is derived from a phi by sums; adds them to the steps. */
    private boolean chain(int value, int phi, BitSet steps) {
        int at = value;
        for (int i = 0; i < LONGEST_CHAIN && at != phi; i++) {
            PointerSums.Part part = sums.of(at);
            if (part == null) {
                return false;
            }
            steps.set(at);
            at = owner(part.pointer());
        }
        return at == phi;
    }

    /** Returns whether a value's shadow is derived from a phi's by additions alone, so that it never moves by more than they add. */
    private boolean derivedFrom(int phi, int value, int depth) {
        int at = value;
        for (int i = 0; i < DEEPEST && at != phi; i++) {
            decide(at, depth + 1);
            if (ways[at] != Way.DERIVE) {
                return false;
            }
            at = owner(sums.of(at).pointer());
        }
        return at == phi && ssa.register(value) == ssa.register(phi);
    }

    /** The value is not bounded without a fence: the carried value is fenced in each iteration. */
    private Offsets fencedRound(int phi, LoopForest.Loop loop, Offsets start, int depth) {
        settle(phi, Way.MERGE, start);
        boolean can = true;
        for (int input : latchInputs(phi, loop)) {
            int from = owner(input);
            can = can && forceFence(from, phi, 0);
            Offsets round = from == phi ? start : can ? decide(from, depth + 1) : null;
            can = round != null && round.low() >= start.low() && round.high() <= start.high()
                    && ssa.register(from) == ssa.register(phi);
        }
        if (!can) {
            without.set(phi);
            stale = true;
            return settle(phi, Way.NONE, null);
        }
        return start;
    }

    private Offsets entry(int phi, LoopForest.Loop loop, int depth) {
        settle(phi, Way.NONE, null);
        Offsets all = null;
        int[] predecessors = of.flow().predecessors(ssa.block(phi));
        for (int p = 0; p < predecessors.length; p++) {
            int input = ssa.inputs(phi)[p];
            if (!loop.contains(predecessors[p]) && input != Ssa.NONE) {
                Offsets one = decide(owner(input), depth + 1);
                if (one == null || ssa.register(owner(input)) != ssa.register(phi)) {
                    return null;
                }
                all = all == null ? one : all.join(one);
            }
        }
        ways[phi] = Way.OPEN;
        return all;
    }

    private int[] latchInputs(int phi, LoopForest.Loop loop) {
        IntArray found = new IntArray();
        int[] predecessors = of.flow().predecessors(ssa.block(phi));
        for (int p = 0; p < predecessors.length; p++) {
            if (loop.contains(predecessors[p])) {
                found.addIfNew(ssa.inputs(phi)[p]);
            }
        }
        return found.toArray();
    }

    /** Makes the definitions that a value stands for be fenced. */
    private boolean forceFence(int value, int phi, int depth) {
        if (value == phi) {
            return true;
        }
        switch (ssa.kind(value)) {
            case RESULT -> {
                stale |= !comesRound.get(value);
                fenced.set(value);
                comesRound.set(value);
                return true;
            }
            case PHI, GUARDED -> {
                boolean can = depth < 16;
                for (int input : ssa.inputs(value)) {
                    can = can && (input == Ssa.NONE || forceFence(owner(input), phi, depth + 1));
                }
                return can;
            }
            default -> {
                return false;
            }
        }
    }

    /** Returns an estimate, for costs only, of how often a value is computed, relative to the function's first instruction. */
    private int frequency(int value) {
        return 1 << 3 * Math.min(MOST_DEPTH, of.loops().depth(ssa.block(value)));
    }

    /** Returns the inputs of a value's shadow, which must have shadows too. */
    int[] inputs(int value) {
        return switch (ways[value]) {
            case DERIVE, REFENCE -> new int[] {owner(sums.of(value).pointer())};
            case MERGE -> Arrays.stream(ssa.inputs(value)).filter(input -> input != Ssa.NONE).map(this::owner)
                    .filter(input -> input != value).toArray();
            default -> new int[0];
        };
    }

    Instruction instruction(int value) {
        return of.code().instruction(ssa.instruction(value));
    }

    Operand.Register register(int value) {
        return new Operand.Register(of.code().name(ssa.register(value)));
    }
}
