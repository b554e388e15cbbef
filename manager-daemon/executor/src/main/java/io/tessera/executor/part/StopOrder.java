package io.tessera.executor.part;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;

/**
 * Chooses which replayable clients stop their kernels for interactive work: the one whose kernel began last, and another one as long as the work is still
 * there some time later (TReM's rule: least work is lost). One owner thread.
 */
final class StopOrder {
    /** Time for which interactive work has to be there until a kernel is stopped: most of it is done beside the kernel within that time. */
    static final long PATIENCE_NS = 2_000_000L;
    /** Time from one stop to the next: a kernel has ended, and the interactive work has run, if that was enough. */
    static final long NEXT_NS = 5_000_000L;

    private final Set<ClientPart> chosen = new HashSet<>();
    private long nextNs;
    private boolean before;

    /**
     * Looks, about every millisecond.
     *
     * @param work    whether an interactive tenant has work on the device
     * @param running clients of other tenants with a kernel that can be stopped
     * @return the clients that are to stop it
     */
    Set<ClientPart> look(boolean work, Collection<ClientPart> running, long nowNs) {
        if (!work) {
            chosen.clear();
        } else if (!before) {
            nextNs = nowNs + PATIENCE_NS;
        }
        before = work;
        chosen.retainAll(running);
        if (work && nowNs - nextNs >= 0) {
            running.stream().filter(client -> !chosen.contains(client)).max(Comparator.comparingLong(ClientPart::runningSinceNs))
                    .ifPresent(latest -> {
                        chosen.add(latest);
                        nextNs = nowNs + NEXT_NS;
                    });
        }
        return chosen;
    }
}
