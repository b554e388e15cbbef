package io.tessera.manager.executors;

import java.util.HashMap;
import java.util.Map;

/**
 * Tenants whose kernels ended an executor for all its clients. They may come in again after a pause that grows each time, so that the others can
 * work. One owner thread.
 */
final class Quarantine {
    /** The first pause; doubled each time. */
    static final long FIRST_NS = 10_000_000_000L;
    static final long LONGEST_NS = 300_000_000_000L;
    /** Time without a fault after which the pauses start again at the first length. */
    private static final long FORGIVEN_NS = 1_800_000_000_000L;
    private static final int MOST = 10_000;

    private final Map<String, Pause> pauses = new HashMap<>();

    private record Pause(long untilNs, long lengthNs) {
    }

    /** Records that a tenant ended an executor. */
    void add(String tenant, long nowNs) {
        pauses.values().removeIf(pause -> nowNs - pause.untilNs > FORGIVEN_NS);
        Pause known = pauses.get(tenant);
        long lengthNs = known == null ? FIRST_NS : Math.min(LONGEST_NS, known.lengthNs * 2);
        if (pauses.size() < MOST || known != null) {
            pauses.put(tenant, new Pause(nowNs + lengthNs, lengthNs));
        }
    }

    /** Returns the nanoseconds for which a tenant stays out; 0: it may come in. */
    long leftNs(String tenant, long nowNs) {
        Pause pause = pauses.get(tenant);
        return pause == null ? 0 : Math.max(0, pause.untilNs - nowNs);
    }
}
