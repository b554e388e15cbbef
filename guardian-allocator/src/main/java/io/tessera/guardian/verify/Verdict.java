package io.tessera.guardian.verify;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What was shown of a text. Immutable.
 *
 * @param text       the text to compile: what was read, without the kernels that were rejected, as this module's printer writes it
 * @param accepted   kernels that are fenced, in order
 * @param rejected   kernels that were not shown to be, by name, and why; they must not be launched
 * @param addresses  names of constants of the text that its code takes for addresses of memory in the window: the loader fills each of them with
 *                   one, aligned to {@link #ADDRESS_ALIGNMENT}, before anything is launched; those that others define are not among them
 * @param clusters   kernels that may be launched in clusters
 * @param waits      whether blocks wait for their cluster: each launch gives them {@link #CLUSTER_BYTES} of dynamic shared memory that are not the program's
 * @param unproven   functions, kernels or not, that were not shown to be fenced for what they hold themselves, and not for what they call
 * @param link       what {@link LinkCheck} has to know of the text before it is linked with others; null where it is not linked
 */
public record Verdict(String text, List<String> accepted, Map<String, UnverifiedException> rejected, Set<String> addresses, Set<String> clusters,
        boolean waits, Set<String> unproven, LinkInterface link) {
    /** What divides the address of every variable in the window. */
    public static final int ADDRESS_ALIGNMENT = 32;
    /** How much dynamic shared memory no access of the program comes to, where blocks wait for their cluster. */
    public static final int CLUSTER_BYTES = 24;

    /** Copies the collections. */
    public Verdict {
        accepted = List.copyOf(accepted);
        rejected = Map.copyOf(rejected);
        addresses = Set.copyOf(addresses);
        clusters = Set.copyOf(clusters);
        unproven = Set.copyOf(unproven);
    }

    /** Whether nothing was rejected. */
    public boolean whole() {
        return rejected.isEmpty();
    }
}
