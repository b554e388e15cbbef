package io.tessera.cli.jvm;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Old live allocations of one call site, with a verdict. Pure.
 *
 * @param site            {@code class.method:line}, or {@code unsampled}
 * @param kind            device, pinned, managed or array
 * @param count           number of allocations
 * @param bytes           their total size
 * @param oldestMs        age of the oldest, milliseconds
 * @param youngestMs      age of the youngest of them, milliseconds
 * @param ownersCollected number of them whose address no Java object holds any longer
 * @param verdict         verdict on them
 */
record LeakSite(String site, String kind, long count, long bytes, long oldestMs, long youngestMs, long ownersCollected,
        Verdict verdict) {
    /** Verdict on old allocations of a site, worst first. */
    enum Verdict {
        /** The Java objects that held some of the addresses are gone, so this memory can no longer be freed. */
        LEAK("leak: owner collected"),
        /** Their number has grown all along, and none is freed: an unbounded cache, or a leak with an owner. */
        GROWS("grows"),
        /** Old, as a model or a pool would be. */
        OLD("old");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        /** Returns the verdict as text for people. */
        String text() {
            return text;
        }
    }

    /** Minimum number for growth: fewer may be a pool that was filled on demand, with one for each thread of a machine. */
    static final int GROWTH_COUNT = 256;

    /** Groups allocations by site and kind: leaks first, then by bytes. */
    static List<LeakSite> of(List<OldAllocation> allocations) {
        record Key(String site, String kind) {
        }

        Map<Key, List<OldAllocation>> groups = new LinkedHashMap<>();
        for (OldAllocation allocation : allocations) {
            groups.computeIfAbsent(new Key(allocation.site(), allocation.kind()), key -> new ArrayList<>())
                    .add(allocation);
        }
        return groups.entrySet().stream().map(group -> of(group.getKey().site(), group.getKey().kind(),
                group.getValue())).sorted(Comparator.comparing(LeakSite::verdict)
                        .thenComparing(LeakSite::bytes, Comparator.reverseOrder()).thenComparing(LeakSite::site))
                .toList();
    }

    private static LeakSite of(String site, String kind, List<OldAllocation> group) {
        long bytes = group.stream().mapToLong(OldAllocation::bytes).sum();
        long oldest = group.stream().mapToLong(OldAllocation::ageMs).max().orElse(0);
        long youngest = group.stream().mapToLong(OldAllocation::ageMs).min().orElse(0);
        long collected = group.stream().filter(OldAllocation::ownerCollected).count();
        Verdict verdict = collected > 0 ? Verdict.LEAK : grows(group, oldest, youngest) ? Verdict.GROWS : Verdict.OLD;
        return new LeakSite(site, kind, group.size(), bytes, oldest, youngest, collected, verdict);
    }

    /**
     * Returns whether there are many, and each quarter of the time has at least an eighth of them. A pool is filled early or all at once.
     */
    private static boolean grows(List<OldAllocation> group, long oldestMs, long youngestMs) {
        if (group.size() < GROWTH_COUNT || oldestMs == youngestMs) {
            return false;
        }
        int[] quarters = new int[4];
        for (OldAllocation allocation : group) {
            quarters[(int) Math.min(3, 4 * (allocation.ageMs() - youngestMs) / (oldestMs - youngestMs))]++;
        }
        for (int quarter : quarters) {
            if (8 * quarter < group.size()) {
                return false;
            }
        }
        return true;
    }
}
