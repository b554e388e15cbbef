package io.tessera.memory.residency;

import java.util.Locale;

/**
 * Detects whether clients have to take turns because device memory is short. Not thread-safe: one owner thread.
 *
 * <p>Two rules, in the order of {@link Pressure.Kind}. Both compare sizes, so they apply from the first sample that shows a shortage. They cease when
 * memory fits with 5 % to spare, or has fitted for half a second, so a program that frees and allocates around the bound does not change the mode
 * each time. With a sample at least every quarter of a second, the answer follows a change within a second.
 *
 * <p>The second rule is a guess, since only the driver sees which managed memory its clients use. Therefore the schedule measures whether clients
 * thrash when they run freely, by the work they get done.
 */
public final class PressureDetector {
    private static final double GIB = 1L << 30;
    private static final double SPARE = 0.95;
    private static final long FITTED_NS = 500_000_000L;

    private Pressure.Kind kind = Pressure.Kind.NONE;
    private long fitsSinceNs = Long.MIN_VALUE;

    /**
     * Takes a sample.
     *
     * @param nowNs the caller's monotonic clock
     */
    public Pressure observe(PressureSample sample, long nowNs) {
        kind = next(sample, nowNs);
        return new Pressure(kind != Pressure.Kind.NONE, kind, reason(sample));
    }

    private Pressure.Kind next(PressureSample sample, long nowNs) {
        if (sample.demandBytes() > sample.capacityBytes()) {
            fitsSinceNs = Long.MIN_VALUE;
            return sample.fixedBytes() + sample.neededBytes() > sample.capacityBytes() ? Pressure.Kind.SHORT
                    : Pressure.Kind.OVERLAPPING;
        }
        if (kind == Pressure.Kind.NONE) {
            return kind;
        }
        fitsSinceNs = fitsSinceNs == Long.MIN_VALUE ? nowNs : fitsSinceNs;
        boolean fitsAgain = sample.demandBytes() <= SPARE * sample.capacityBytes() || nowNs - fitsSinceNs >= FITTED_NS;
        return fitsAgain ? Pressure.Kind.NONE : kind;
    }

    private String reason(PressureSample sample) {
        String sizes = String.format(Locale.ROOT, "%.2f GiB of %.2f GiB", sample.demandBytes() / GIB,
                sample.capacityBytes() / GIB);
        return switch (kind) {
            case NONE -> "memory fits: clients have " + sizes;
            case SHORT -> "memory is short: what has to be resident is " + sizes;
            case OVERLAPPING -> "managed memory is short: clients have " + sizes;
        };
    }
}
