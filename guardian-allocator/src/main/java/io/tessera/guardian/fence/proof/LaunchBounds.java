package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.Map;

/**
 * What is known of the launches of a function: bounds of special registers, and of what instructions read. Immutable.
 */
final class LaunchBounds {
    private static final long ANY = -1;

    private final SpecialBounds special;
    private final long[] most;
    private final boolean shaped;

    private LaunchBounds(SpecialBounds special, boolean shaped, long[] most) {
        this.special = special;
        this.shaped = shaped;
        this.most = most;
    }

    /**
     * Those of a shape.
     *
     * @param shape what is known of a kernel's launches, or null
     */
    static LaunchBounds of(FunctionGraph graph, LaunchShape shape) {
        return new LaunchBounds(SpecialBounds.of(graph.function(), shape), shape != null, null);
    }

    /**
     * Those of launches of any shape in which some instructions read no more than a number.
     *
     * @param most the greatest number without sign, by instruction (by identity), at least 0
     */
    static LaunchBounds of(FunctionGraph graph, Map<Instruction, Long> most) {
        long[] bounds = new long[graph.code().size()];
        for (int i = 0; i < bounds.length; i++) {
            bounds[i] = most.getOrDefault(graph.code().instruction(i), ANY);
        }
        return new LaunchBounds(SpecialBounds.of(graph.function(), null), false, bounds);
    }

    /** Whether what is known of an instruction's operands or results may be more than for all launches. */
    boolean concerns(FlatCode code, int index) {
        return isBounded(index) || shaped && code.instruction(index).operands().stream().anyMatch(Operand.SpecialRegister.class::isInstance);
    }

    SpecialBounds special() {
        return special;
    }

    /** Whether what some instruction reads is bounded. */
    boolean bounds() {
        return most != null;
    }

    /** Whether what an instruction reads is bounded. */
    boolean isBounded(int index) {
        return most != null && most[index] != ANY;
    }

    /** The greatest number that an instruction reads, if it {@link #isBounded}. */
    long most(int index) {
        return most[index];
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
