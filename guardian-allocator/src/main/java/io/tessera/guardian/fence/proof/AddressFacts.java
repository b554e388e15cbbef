package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Known facts about the addresses of one function. Instructions are distinguished by identity ({@code ==}), not by equality.
 *
 * <p><b>Shadows.</b> A program may hold a pointer that it never follows (null, one past the end), so a fence never changes a register of the program.
 * Instead a pointer register {@code r} can have a shadow {@code r'}, a register that the rewriter adds. It is written in only three ways: after each
 * definition that {@link #baseFences()} names the rewriter adds {@code r' = fence(r)}; where a part of a loop begins it adds {@code r' = fence(r')}
 * for what {@link #carried()} names; before each instruction {@code d = op(a, b)} of {@link #derivations()} it adds the same instruction (with the
 * same guard) on shadows: {@code d'} for {@code d}, and {@code a'} for each operand that {@link Derivation#pointer()} names. An access whose
 * placement is {@link Placement.FencedBase} then uses {@code r'} in place of its base register. These facts claim a proof that on every path to such
 * an access the shadow of its base register has been written, and that it is the inside of the window plus an offset of less than {@link
 * io.tessera.guardian.fence.WindowConstants#GUARD_BYTES} minus 32.
 *
 * <p>A register that a nested block declares, or whose name one hides, has no shadow.
 *
 * <p>Shadows are used only in the modes MASK and MODULO; the mode CHECK checks every address itself.
 */
public interface AddressFacts {
    /**
     * The fact about one address.
     *
     * @param access  an instruction of the function
     * @param operand index of an operand of it that is an address
     */
    AddressFact of(Instruction access, int operand);

    /** Returns where shadows are made from fenced pointers; no definition occurs twice for the same register. */
    List<BaseFence> baseFences();

    /** Returns where shadows are made from shadows; no instruction occurs twice. */
    List<Derivation> derivations();

    /**
     * Returns whether a branch that goes back closes a loop that is left after a bounded number of iterations, whatever the values are (see {@code
     * CountedLoops}). The bound may be 2^32. For a tenant that is alone, such a loop needs no look at the stop word, and its comparison no change.
     *
     * @param branch an instruction of the function
     */
    default boolean endsByItself(Instruction branch) {
        return false;
    }

    /**
     * As above, for a number of iterations that is soon over: such a loop needs no look, even if other tenants are there.
     *
     * @param branch an instruction of the function
     * @return maximum number of iterations, including those of inner loops; 0 if it does not end soon
     */
    default long endsSoon(Instruction branch) {
        return 0;
    }

    /** Limits of loops that {@link #endsByItself} takes for granted; no comparison twice. */
    default List<LoopCut> loopCuts() {
        return List.of();
    }

    /**
     * Says which loops go round in parts. Before anything about shadows is asked; else no loop does.
     *
     * @param rounds of the loop that a branch closes the rounds of a part, at most; 0: it is not in parts
     */
    default void divide(ToLongFunction<Instruction> rounds) {
    }

    /** Shadows that are fenced where a part of a loop begins; none twice for one loop. */
    default List<CarriedPointer> carried() {
        return List.of();
    }
}
