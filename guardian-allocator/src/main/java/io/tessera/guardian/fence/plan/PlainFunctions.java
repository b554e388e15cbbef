package io.tessera.guardian.fence.plan;

import java.util.HashSet;
import java.util.Set;

/**
 * Which functions of a module are fenced without proofs: every access where it stands, every loop with a look at the stop word. Functions of both forms
 * may call each other: what a caller and its callee have to agree on (hidden parameters, where local variables and constants lie, which barriers there
 * are) is decided once for the whole module, and a function's form changes nothing but its own body. Immutable.
 *
 * @param all   whether all are
 * @param names of those that are, if not all are
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

    /** Whether a function is one of them. */
    public boolean contains(String function) {
        return all || names.contains(function);
    }

    /**
     * The next try, where text fenced so was not accepted as a whole: these functions without proofs too. After two such tries, and where
     * all of them are without proofs already, all functions.
     *
     * @param unproven functions that were not shown to be fenced, each by itself
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
