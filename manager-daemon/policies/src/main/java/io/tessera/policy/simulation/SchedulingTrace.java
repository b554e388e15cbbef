package io.tessera.policy.simulation;

import java.util.Comparator;
import java.util.List;

/**
 * Requests of tenants to a device.
 *
 * @param tenants all tenants; the other lists name them by index
 * @param submissions requests with a time of their own, in the order of their times
 * @param loops       programs whose requests depend on the device
 * @param changes     changes by operators, in the order of their times
 */
public record SchedulingTrace(List<TraceTenant> tenants, List<TraceSubmission> submissions, List<RequestLoop> loops, List<TermsChange> changes) {
    /** Sorts by time; requests of the same time stay in their order. */
    public SchedulingTrace {
        tenants = List.copyOf(tenants);
        submissions = submissions.stream().sorted(Comparator.comparingLong(TraceSubmission::atNs)).toList();
        loops = List.copyOf(loops);
        changes = changes.stream().sorted(Comparator.comparingLong(TermsChange::atNs)).toList();
    }

    /** Returns a trace of loops alone. */
    public static SchedulingTrace ofLoops(List<TraceTenant> tenants, List<RequestLoop> loops) {
        return new SchedulingTrace(tenants, List.of(), loops, List.of());
    }

    /** Returns whether it ends by itself. */
    public boolean ends() {
        return loops.stream().noneMatch(loop -> loop.untilNs() == Long.MAX_VALUE && loop.requests() == Long.MAX_VALUE);
    }
}
