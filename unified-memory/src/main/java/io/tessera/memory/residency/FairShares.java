package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Max-min fair shares: no key gets more than it asks for, and a share can only be raised by lowering one that is not larger (Bertsekas and Gallager,
 * Data Networks, 6.5.2). Pure functions.
 */
final class FairShares {
    private FairShares() {
    }

    /** Returns the shares of {@code bytes} by key; {@code asked} is by key. */
    static <K> Map<K, Long> of(long bytes, Map<K, Long> asked) {
        List<Map.Entry<K, Long>> least = new ArrayList<>(asked.entrySet());
        least.sort(Comparator.comparingLong(Map.Entry::getValue));
        Map<K, Long> shares = new HashMap<>();
        long left = Math.max(0, bytes);
        int others = least.size();
        for (Map.Entry<K, Long> entry : least) {
            long share = Math.min(entry.getValue(), left / others);
            shares.put(entry.getKey(), share);
            left -= share;
            others--;
        }
        return shares;
    }

    /** Divides among groups first, none of which gets more than {@code groupBytes}, then within each. */
    static <K, G> Map<K, Long> grouped(long bytes, long groupBytes, Map<K, Long> asked, Map<K, G> groups) {
        Map<G, Map<K, Long>> members = new LinkedHashMap<>();
        Map<G, Long> sums = new LinkedHashMap<>();
        asked.forEach((key, ask) -> {
            G group = groups.get(key);
            members.computeIfAbsent(group, unused -> new LinkedHashMap<>()).put(key, ask);
            sums.merge(group, ask, Long::sum);
        });
        sums.replaceAll((group, sum) -> Math.min(sum, groupBytes));
        Map<K, Long> shares = new HashMap<>();
        of(bytes, sums).forEach((group, share) -> shares.putAll(of(share, members.get(group))));
        return shares;
    }
}
