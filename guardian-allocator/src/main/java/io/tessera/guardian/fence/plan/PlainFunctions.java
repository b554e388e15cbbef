package io.tessera.guardian.fence.plan;

import java.util.HashSet;
import java.util.Set;

/**
 * The functions of a module that are fenced without proofs: every access separately, and every loop with a look at the stop word. Functions of both
 * forms may call each other. The facts on which a caller and its callee must agree (hidden parameters, location of local variables and constants,
 * existing barriers) are decided once for the whole module. A function's form changes nothing but its own body. Immutable.
 *
 * @param all   whether all functions are fenced without proofs
 * @param names names of the functions without proofs, if not all are
 * @param rounds how often functions were added
 */
public record PlainFunctions(boolean all, Set<String> names, int rounds) {
    private static final int MOST_ROUNDS = 2;

    /** Copies the set. */
    public PlainFunctions {
        names = Set.copyOf(names);
    }

    /** None is. */
    public static PlainFunctions none() {
        return new PlainFunctions(false, Set.of(), 0);
    }

    /** All are. */
    public static PlainFunctions everything() {
        return new PlainFunctions(true, Set.of(), MOST_ROUNDS);
    }

    /** Returns whether a function is fenced without proofs. */
    public boolean contains(String function) {
        return all || names.contains(function);
    }

    /**
     * Returns the selection for the next attempt, after text was not accepted as a whole: these functions become plain, too. After two such attempts,
     * or if all of these are already plain, all functions do.
     *
     * @param unproven functions that were not individually shown to be fenced
     */
    public PlainFunctions with(Set<String> unproven) {
        if (all || rounds == MOST_ROUNDS || names.containsAll(unproven)) {
            return everything();
        }
        Set<String> more = new HashSet<>(names);
        more.addAll(unproven);
        return new PlainFunctions(false, more, rounds + 1);
    }
}
