package io.tessera.policy.simulation;

import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Creates traces of programs that submit one kind of request again and again. */
public final class LoopGenerator {
    private static final long US = 1_000L;
    private static final int REQUESTS_OF_ONE = 100;

    private LoopGenerator() {
    }

    /**
     * Returns tenants that always have work, by weight. Their requests take at most 4 ms: each tenant's take half as long as those of the one before
     * it, and the last one's a fifteenth of the first one's.
     */
    public static SchedulingTrace weighted(int... weights) {
        List<TraceTenant> tenants = new ArrayList<>();
        List<RequestLoop> loops = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            long lengthNs = i > 0 && i == weights.length - 1 ? 4_000 * US / 15 : Math.max(4_000 * US >> i, 4_000 * US / 15);
            tenants.add(new TraceTenant("weight-" + weights[i] + "-" + (char) ('a' + i % 26) + (i < 26 ? "" : i / 26),
                    TenantTerms.DEFAULT.withWeight(weights[i])));
            loops.add(new RequestLoop(0, Long.MAX_VALUE, i, lengthNs, 50 * US, 8, Long.MAX_VALUE));
        }
        return SchedulingTrace.ofLoops(tenants, loops);
    }

    /** Returns two equal tenants that wait for each request, with 50 us to the next; one's take 4 ms, the other's a fifteenth of it. */
    public static SchedulingTrace pair() {
        return SchedulingTrace.ofLoops(List.of(new TraceTenant("long", TenantTerms.DEFAULT), new TraceTenant("short", TenantTerms.DEFAULT)),
                List.of(RequestLoop.endless(0, 4_000 * US, 50 * US), RequestLoop.endless(1, 4_000 * US / 15, 50 * US)));
    }

    /** Returns tenants of all weights from 1 to 9, every fifth interactive, each with a hundred requests of 0.1 to 2.1 ms and gaps of up to 1 ms. */
    public static SchedulingTrace crowd(int number, long seed) {
        if (number < 1) {
            throw new IllegalArgumentException("a crowd of " + number);
        }
        Random random = new Random(seed);
        List<TraceTenant> tenants = new ArrayList<>();
        List<RequestLoop> loops = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            TenantClass tenantClass = i % 5 == 0 ? TenantClass.INTERACTIVE : TenantClass.BATCH;
            tenants.add(new TraceTenant("tenant" + (i + 1), TenantTerms.DEFAULT.withWeight(1 + random.nextInt(9)).withClass(tenantClass)));
            loops.add(new RequestLoop(0, Long.MAX_VALUE, i, 100 * US + random.nextInt(2_000_000), random.nextInt(1_000_000), 1, REQUESTS_OF_ONE));
        }
        return SchedulingTrace.ofLoops(tenants, loops);
    }
}
