package io.tessera.memory.residency;

import java.util.ArrayDeque;
import java.util.Locale;

/**
 * Finds out whether clients have to take turns because device memory is short. Not thread-safe: one owner thread.
 *
 * <p>Three rules, in the order of {@link Pressure.Kind}. The first two compare sizes, so they hold from the sample on
 * that shows them, and cease when memory fits with 5 % to spare, or has fitted for half a second: a program that
 * frees and allocates around the bound changes nobody's mode every time. The third needs counters: over the last second
 * of free running the bus was busy bringing in memory for a third of the time, and clients got less than 0.7 done of
 * what they did without such traffic; where that is not known, the bus has to be busy for half of the time. In turns
 * thrashing cannot be seen, so it is given up when all that clients have fits, when clients came or went, or for a try
 * after 10 s; each try that fails doubles that time, up to 160 s.
 *
 * <p>With a sample at least every quarter of a second it answers within a second, either way.
 */
public final class PressureDetector {
    private static final double GIB = 1L << 30;
    private static final double SPARE = 0.95;
    private static final long FITTED_NS = 500_000_000L;
    private static final long WINDOW_NS = 1_000_000_000L;
    private static final long LEAST_WINDOW_NS = 400_000_000L;

    /** Below 4 to 8 times slower than alone, which thrashing was measured to cost (nvshare), and above ordinary moves. */
    private static final double BUSY_BUS = 1.0 / 3;
    private static final double SURELY_BUSY_BUS = 0.5;
    private static final double SLOW = 0.7;
    private static final double QUIET_BUS = 0.05;

    private static final long FIRST_TRY_NS = 10_000_000_000L;
    private static final long LAST_TRY_NS = 160_000_000_000L;

    private record Timed(PressureSample sample, long atNs) {
    }

    private final ArrayDeque<Timed> window = new ArrayDeque<>();
    private Pressure.Kind kind = Pressure.Kind.NONE;
    private String thrashing = "";
    private long fitsSinceNs = Long.MIN_VALUE;
    private long thrashedAtNs;
    private long tryAfterNs = FIRST_TRY_NS;
    private boolean trying;

    /** Submissions per second without traffic; 0: not known. */
    private double referenceRate;
    private long knownChanges = Long.MIN_VALUE;

    /**
     * Takes a sample.
     *
     * @param turnsNow whether clients take turns at present, for whatever reason
     * @param rates    of faults: how fast memory comes in when kernels fault
     * @param nowNs    the caller's monotonic clock
     */
    public Pressure observe(PressureSample sample, boolean turnsNow, MoveRates rates, long nowNs) {
        if (sample.changes() != knownChanges) {
            knownChanges = sample.changes();
            forget();
        }
        if (turnsNow) {
            window.clear();
        }
        window.addLast(new Timed(sample, nowNs));
        while (nowNs - window.getFirst().atNs() > WINDOW_NS) {
            window.removeFirst();
        }
        kind = next(sample, turnsNow, rates, nowNs);
        return new Pressure(kind != Pressure.Kind.NONE, kind, reason(sample));
    }

    private void forget() {
        window.clear();
        referenceRate = 0;
        tryAfterNs = FIRST_TRY_NS;
        trying = false;
        if (kind == Pressure.Kind.THRASHING) {
            kind = Pressure.Kind.NONE;
        }
    }

    private Pressure.Kind next(PressureSample sample, boolean turnsNow, MoveRates rates, long nowNs) {
        boolean bySize = kind == Pressure.Kind.SHORT || kind == Pressure.Kind.OVERLAPPING;
        if (sample.demandBytes() > sample.capacityBytes()) {
            fitsSinceNs = Long.MIN_VALUE;
            return sample.fixedBytes() + sample.neededBytes() > sample.capacityBytes() ? Pressure.Kind.SHORT
                    : Pressure.Kind.OVERLAPPING;
        }
        if (bySize) {
            fitsSinceNs = fitsSinceNs == Long.MIN_VALUE ? nowNs : fitsSinceNs;
            boolean fitsAgain = sample.demandBytes() <= SPARE * sample.capacityBytes()
                    || nowNs - fitsSinceNs >= FITTED_NS;
            return fitsAgain ? Pressure.Kind.NONE : kind;
        }
        if (sample.reachableBytes() <= sample.capacityBytes()) {
            return Pressure.Kind.NONE;
        }
        if (kind == Pressure.Kind.THRASHING) {
            boolean again = nowNs - thrashedAtNs >= tryAfterNs;
            trying |= again;
            return again ? Pressure.Kind.NONE : Pressure.Kind.THRASHING;
        }
        return !turnsNow && thrashes(rates, nowNs) ? Pressure.Kind.THRASHING : Pressure.Kind.NONE;
    }

    private boolean thrashes(MoveRates rates, long nowNs) {
        Timed first = window.getFirst();
        Timed last = window.getLast();
        long ns = last.atNs() - first.atNs();
        if (ns < LEAST_WINDOW_NS) {
            return false;
        }
        long bytes = last.sample().faultedBytes() - first.sample().faultedBytes()
                + last.sample().movedBytes() - first.sample().movedBytes();
        double busy = rates.moveNs(bytes, 0) / ns;
        double rate = 1e9 * (last.sample().submissions() - first.sample().submissions()) / ns;
        if (busy <= QUIET_BUS) {
            referenceRate = Math.max(referenceRate, rate);
            trying &= nowNs - thrashedAtNs < tryAfterNs + 2 * WINDOW_NS;
            return false;
        }
        boolean slow = referenceRate > 0 && rate < SLOW * referenceRate;
        if (busy < BUSY_BUS || !(slow || referenceRate == 0 && busy >= SURELY_BUSY_BUS)) {
            return false;
        }
        tryAfterNs = trying ? Math.min(2 * tryAfterNs, LAST_TRY_NS) : FIRST_TRY_NS;
        trying = false;
        thrashedAtNs = nowNs;
        thrashing = String.format(Locale.ROOT, "thrashing: %.1f GiB came in within %.1f s, %.0f %% of what the bus can%s",
                bytes / GIB, ns / 1e9, 100 * Math.min(1, busy), referenceRate == 0 ? ""
                        : String.format(Locale.ROOT, ", and clients did %.0f %% of what they do without",
                                100 * rate / referenceRate));
        return true;
    }

    private String reason(PressureSample sample) {
        String sizes = String.format(Locale.ROOT, "%.2f GiB of %.2f GiB", sample.demandBytes() / GIB,
                sample.capacityBytes() / GIB);
        return switch (kind) {
            case NONE -> sample.reachableBytes() <= sample.capacityBytes() ? "memory fits: clients have " + sizes
                    : "working sets fit: " + sizes;
            case SHORT -> "memory is short: what has to be resident is " + sizes;
            case OVERLAPPING -> "memory is short: working sets are " + sizes;
            case THRASHING -> thrashing;
        };
    }
}
