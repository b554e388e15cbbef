package io.tessera.guardian.verify;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Results of verifying a text. Immutable.
 *
 * @param text       the text to compile: the input without the rejected kernels, as this module's printer writes it
 * @param accepted   kernels that are fenced, in order
 * @param rejected   kernels that were not shown to be fenced, by name, with the reason; they must not be launched
 * @param addresses  names of constants of the text that its code takes for addresses of memory in the window: the loader fills each of them with one,
 *                   aligned to {@link #ADDRESS_ALIGNMENT}, before anything is launched; those that others define are not among them
 * @param clusters   kernels that may be launched in clusters
 * @param waits      whether blocks wait for their cluster: each launch gives them {@link #CLUSTER_BYTES} of dynamic shared memory that are not the
 *                   program's
 * @param unproven   functions, kernels or not, that were not shown to be fenced because of their own code, not because of their callees
 * @param link       the data that {@link LinkCheck} needs about the text before it is linked with others; null if it is not linked
 */
public record Verdict(String text, List<String> accepted, Map<String, UnverifiedException> rejected, Set<String> addresses, Set<String> clusters,
        boolean waits, Set<String> unproven, LinkInterface link) {
    /** A divisor of the address of every variable in the window. */
    public static final int ADDRESS_ALIGNMENT = 32;
    /** Size of the dynamic shared memory that no access of the program reaches, if blocks wait for their cluster. */
    public static final int CLUSTER_BYTES = 24;

    /** Copies the collections. */
    public Verdict {
        accepted = List.copyOf(accepted);
        rejected = Map.copyOf(rejected);
        addresses = Set.copyOf(addresses);
        clusters = Set.copyOf(clusters);
        unproven = Set.copyOf(unproven);
    }

    /** Returns whether nothing was rejected. */
    public boolean whole() {
        return rejected.isEmpty();
    }
}
