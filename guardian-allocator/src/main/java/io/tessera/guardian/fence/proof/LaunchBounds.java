package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;

/**
 * What is known of the launches of a function: bounds of special registers, and of what instructions read. Immutable.
 */
final class LaunchBounds {
    private final SpecialBounds special;
    private final boolean shaped;
    private final BitSet bounded;
    private final long[] most;
    private final BitSet windows;

    private LaunchBounds(SpecialBounds special, boolean shaped, BitSet bounded, long[] most, BitSet windows) {
        this.special = special;
        this.shaped = shaped;
        this.bounded = bounded;
        this.most = most;
        this.windows = windows;
    }

    /**
     * Those of a shape.
     *
     * @param shape what is known of a kernel's launches, or null
     */
    static LaunchBounds of(FunctionGraph graph, LaunchShape shape) {
        return new LaunchBounds(SpecialBounds.of(graph.function(), graph.countsClusters(), shape), shape != null, new BitSet(), new long[0],
                new BitSet());
    }

    /**
     * Those of launches of any shape in which some instructions read no more than a number.
     *
     * @param most the greatest number without sign, by instruction (by identity), at least 0
     */
    static LaunchBounds of(FunctionGraph graph, Map<Instruction, Long> most) {
        return of(graph, new LaunchPromise(most, Set.of()));
    }

    /** Those of launches of any shape that keep a promise. */
    static LaunchBounds of(FunctionGraph graph, LaunchPromise promise) {
        FlatCode code = graph.code();
        BitSet bounded = new BitSet();
        long[] bounds = new long[code.size()];
        promise.most().forEach((instruction, most) -> {
            int index = code.indexOf(instruction);
            if (index >= 0) {
                bounded.set(index);
                bounds[index] = most;
            }
        });
        BitSet windows = new BitSet();
        for (Instruction instruction : promise.windows()) {
            int index = code.indexOf(instruction);
            if (index >= 0) {
                windows.set(index);
            }
        }
        return new LaunchBounds(SpecialBounds.of(graph.function(), graph.countsClusters(), null), false, bounded, bounds, windows);
    }

    /** Whether what is known of an instruction's operands or results may be more than for all launches. */
    boolean concerns(FlatCode code, int index) {
        return isBounded(index) || shaped && code.readsSpecial(index);
    }

    SpecialBounds special() {
        return special;
    }

    /** The next instruction, from one on, of which what it reads is bounded; or -1. */
    int nextBounded(int index) {
        return bounded.nextSetBit(index);
    }

    /** Whether what an instruction reads is bounded. */
    boolean isBounded(int index) {
        return bounded.get(index);
    }

    /** The greatest number that an instruction reads, if it {@link #isBounded}. */
    long most(int index) {
        return most[index];
    }

    /** Whether what an instruction reads is promised to be inside the window, aligned as it needs to be. */
    boolean isInWindow(int index) {
        return windows.get(index);
    }

    /** What an instruction gives, within the bounds. */
    AbstractValue within(int index, AbstractValue value, int bits) {
        if (!isBounded(index)) {
            return value;
        }
        AbstractValue number = value.unsigned(bits);
        long low = number.bounded() ? number.low() : 0;
        long high = number.bounded() ? Math.min(number.high(), most[index]) : most[index];
        return low > high ? value : AbstractValue.of(null, false, low, high, low == high ? AbstractValue.zeros(low) : number.zeros());
    }
}
