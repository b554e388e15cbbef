package io.tessera.agent.boot;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Statistics of one kernel, library function or direction of copies: exact counts, and its samples by call site. Counting creates nothing
 * once the adders have met their threads. Any thread.
 */
final class Launches {
    private static final int MOST_SITES = 256;

    final long handle;
    final String name;
    final LongAdder count = new LongAdder();
    final LongAdder bytes = new LongAdder();
    private volatile boolean fresh = true;
    private final ConcurrentHashMap<Site, LongAdder> samples = new ConcurrentHashMap<>(4);

    /** Creates the statistics of a kernel's handle, or of a name alone (handle 0). */
    Launches(long handle, String name) {
        this.handle = handle;
        this.name = name;
    }

    /** Returns whether there is no sample yet. */
    boolean isNew() {
        return fresh;
    }

    void sampled(Site site) {
        fresh = false;
        LongAdder adder = samples.get(site);
        if (adder == null) {
            if (samples.size() >= MOST_SITES) {
                AgentCounters.drop();
                return;
            }
            adder = samples.computeIfAbsent(site, s -> new LongAdder());
        }
        adder.increment();
    }

    Map<Site, LongAdder> samples() {
        return samples;
    }
}
