package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.ptx.Instruction;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where a function has to look at the stop word: at every branch that goes back in the text, since every cycle has one; except in
 * innermost loops that count to a bound in 32 bits, which end by themselves. Immutable.
 */
final class Loops {
    private static final int AROUND_COUNTED = 64;
    private static final int AROUND_CALLS = 256;
    /** A pass may take a millisecond. */
    private static final int AROUND_SLEEP = 1024;

    /**
     * What makes certain that a counted loop ends.
     *
     * @param ignoredBits low bits that {@code setp.ne} leaves out: a step of a multiple of 2^k cannot miss the bound
     * @param limit       the bound is cut to this, so that the counter cannot pass it by running over
     * @param cut         whether {@code limit} is to be used
     */
    record Bound(int ignoredBits, long limit, boolean cut) {
    }

    private final LoopText text;
    private final Map<Instruction, Integer> weights = new IdentityHashMap<>();
    private final Map<Instruction, Bound> bounds = new IdentityHashMap<>();

    Loops(LoopText text, AddressFacts facts, boolean counting) {
        this.text = text;
        if (!text.hasLoops()) {
            return;
        }
        List<Instruction> flat = text.instructions();
        int[] ended = new int[flat.size() + 1];
        for (int i = 0; i < flat.size(); i++) {
            boolean ends = counting && text.start(i) >= 0 && (facts.endsByItself(flat.get(i)) || isCounted(i));
            ended[i + 1] = ended[i] + (ends ? 1 : 0);
        }
        for (int i = 0; i < flat.size(); i++) {
            int start = text.start(i);
            if (start >= 0 && !LoopText.any(ended, i, i + 1)) {
                weights.put(flat.get(i), text.sleeps(start, i) ? AROUND_SLEEP : text.calls(start, i) ? AROUND_CALLS
                        : LoopText.any(ended, start, i) ? AROUND_COUNTED : 1);
            }
        }
    }

    private boolean isCounted(int at) {
        Optional<LoopText.Counted> counted = text.counted(at);
        counted.ifPresent(loop -> bounds.put(loop.compare(), loop.bound()));
        return counted.isPresent();
    }

    /** How many loops of the text enclose an instruction. */
    int depth(Instruction instruction) {
        return text.depth(instruction);
    }

    /** Shows all instructions that loops of the text enclose. */
    void inside(LoopCosts.Inside each) {
        List<Instruction> flat = text.instructions();
        for (int i = 0; i < flat.size(); i++) {
            if (text.depth(i) > 0) {
                each.take(flat.get(i), text.depth(i), text.start(i) >= 0 ? weight(flat.get(i)) : 0);
            }
        }
    }

    /** How much of the fuel a branch takes, or 0 where it need not look. */
    int weight(Instruction branch) {
        return weights.getOrDefault(branch, 0);
    }

    /** How a comparison has to be changed, or null. */
    Bound bound(Instruction compare) {
        return bounds.get(compare);
    }

    /** Whether anything takes fuel. */
    boolean any() {
        return !weights.isEmpty();
    }
}
