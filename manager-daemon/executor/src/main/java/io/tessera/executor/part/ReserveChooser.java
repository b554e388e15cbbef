package io.tessera.executor.part;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses the tenant for which some of the processors are kept free. A tenant is light if it needs the device for a small part of the time
 * but waits for others' kernels. As long as it has had work lately, all others are kept off a reserve of processors. A tenant that waits for others
 * looks as busy as they are, so light tenants are found by trials. In a trial, the others are kept off the reserve for a quarter of a second, or
 * longer while the tenant may have delayed requests to make up for. If the tenant is then idle for most of the time, and less busy than before, it is
 * light. Time is an argument; no method blocks. One owner thread.
 */
final class ReserveChooser {
    /** A tenant without work for this long no longer takes part, and gets no reserve. */
    static final long ACTIVE_NS = 500_000_000L;
    /** Time for which a tenant's work is observed before a trial, and in a trial once the others' queued work is done. */
    static final long WINDOW_NS = 200_000_000L;
    static final long SETTLE_NS = 60_000_000L;
    /** A tenant that had no work for this long at the end of a window may have stopped during it. */
    private static final long STOPPED_NS = WINDOW_NS / 4;
    /**
     * The longest trial, for a tenant that stays busy but does not queue ahead: it may have to make up for requests that arrived while it waited for
     * others.
     */
    static final long LONGEST_TRIAL_NS = 1_000_000_000L;
    /**
     * A light tenant has work on the device for at most this part of the time; one that has had more than {@link #NOT_LIGHT} for a second
     * is not light. If two tenants took turns, each would have half of the time. (A model with 100 requests per second, each of which takes 3.2 ms beside
     * a program that streams through memory, has work for 0.35 of the time.)
     */
    static final double LIGHT = 0.5;
    static final double NOT_LIGHT = 0.65;
    /**
     * A reserve has to make a tenant less busy by at least this part of the time to be worth its cost to others. This is also three standard deviations of a
     * window.
     */
    static final double GAIN = 0.1;
    /** Tenants that are less busy than this are not tried, because they hardly wait. */
    private static final double IDLE = 0.02;
    private static final int HEAVY_WINDOWS = 5;
    /**
     * A tenant whose queue was full at this many observations in its first trial does not wait for results, so another new tenant is tried in its place. When
     * two tenants come at the same time, nothing is queued yet that would distinguish them.
     */
    static final int FULL_LOOKS = 10;
    /** Differences of less than a tenth are ignored. */
    private static final int AHEAD_STEPS = 10;
    /** Interval between trials of a tenant; it doubles after each trial in which the tenant was not light. */
    static final long RETRY_NS = 5_000_000_000L;
    static final long LONGEST_RETRY_NS = 60_000_000_000L;
    /**
     * Time after a tenant's first trial until it is observed without the reserve. The first trial begins when the tenant comes, so its
     * behaviour without a reserve is still unknown.
     */
    static final long FIRST_CHECK_NS = 10_000_000_000L;

    /**
     * Order of trials: tenants that were light before come first, then those that queue least ahead (a tenant that waits for its results
     * queues little); among equals the one that came last.
     */
    private static final Comparator<Tenant> FIRST = Comparator.comparing((Tenant tenant) -> tenant.wasLight)
            .thenComparingLong(tenant -> -Math.round(tenant.ahead * AHEAD_STEPS)).thenComparingLong(tenant -> tenant.order);

    /** As above, for new tenants. A tenant whose queue is full does not wait for results, so it is tried later. */
    private static final Comparator<Tenant> COMING = Comparator.comparing((Tenant tenant) -> tenant.wasLight)
            .thenComparing(tenant -> tenant.fullLooks == 0).thenComparingLong(tenant -> tenant.activeNs).thenComparingLong(tenant -> tenant.order);

    private enum Kind {
        UNKNOWN, LIGHT, HEAVY
    }

    /** A tenant; the chooser owns its fields. */
    static final class Tenant {
        private final long order;
        private boolean interactive;
        private Kind kind = Kind.UNKNOWN;
        private long busyNs = Long.MIN_VALUE / 2;
        /** Since when it has had work repeatedly. */
        private long activeNs;
        private int busyLooks;
        private int fullLooks;
        private boolean isFull;
        private boolean wasTried;
        /** Whether its need was last measured while it was alone, and not in a trial. It may have been warming up at that time. */
        private boolean seenAlone;
        /** Whether it came during or just before another tenant's trial, and was neither tried nor alone since. */
        private boolean cameInTrial;
        /** Whether it was light in the last trial. */
        private boolean wasLight;
        private double duty;
        /** Fraction of the time in which it had queued as much as it may. */
        private double ahead;
        private int heavyWindows;
        private long retryNs = Long.MIN_VALUE / 2;
        private long backoffNs = RETRY_NS;
        private int part = ProcessorParts.WHOLE;

        private Tenant(long order) {
            this.order = order;
        }

        /** Returns the part that it is to run on. */
        int part() {
            return part;
        }

        /** Sets whether an operator has declared the tenant interactive: then it is light, whatever it does. */
        void interactive(boolean now) {
            interactive = now;
        }

        /** Returns whether it counts as light. */
        boolean isLight() {
            return interactive || kind == Kind.LIGHT;
        }
    }

    private final List<Tenant> tenants = new ArrayList<>();
    private long order;
    private Tenant tried;
    /** Whether the tenant was tried before. Then its trial ends when a light tenant has work; a first trial ends when an interactive tenant has work. */
    private boolean again;
    /** When the trial, or otherwise the window, began. */
    private long sinceNs = Long.MIN_VALUE / 2;
    /** Number of looks in the trial that found the queue full. */
    private int fullInTrial;
    /** Since when looks have been counted. */
    private long countedNs;
    private int looks;
    private double before;

    /** Adds a tenant. */
    Tenant join() {
        Tenant tenant = new Tenant(++order);
        tenants.add(tenant);
        return tenant;
    }

    /** Removes a tenant. */
    void leave(Tenant tenant) {
        tenants.remove(tenant);
        tried = tried == tenant ? null : tried;
    }

    /**
     * Records an observation of a tenant; {@link #decide} follows when all tenants were observed.
     *
     * @param busy whether it has work on the device
     * @param full whether it has queued as much as it may
     */
    void saw(Tenant tenant, boolean busy, boolean full, long nowNs) {
        tenant.fullLooks += full ? 1 : 0;
        tenant.isFull = full;
        if (busy) {
            boolean comes = !isActive(tenant, nowNs);
            tenant.activeNs = comes ? nowNs : tenant.activeNs;
            tenant.cameInTrial = comes ? tried != null && tried != tenant : tenant.cameInTrial;
            tenant.busyNs = nowNs;
            tenant.busyLooks++;
        }
    }

    /** Returns whether another tenant has had work lately, or is interactive and may have some at any moment. */
    boolean isBesideOthers(Tenant tenant, long nowNs) {
        return tenants.stream().anyMatch(other -> other != tenant && (other.interactive || isActive(other, nowNs)));
    }

    private boolean isAnotherActive(Tenant tenant, long nowNs) {
        return tenants.stream().anyMatch(other -> other != tenant && isActive(other, nowNs));
    }

    private static boolean isActive(Tenant tenant, long nowNs) {
        return nowNs - tenant.busyNs < ACTIVE_NS;
    }

    /** Decides on which part each tenant runs from now on. */
    void decide(long nowNs) {
        looks++;
        if (tried != null) {
            lookAtTrial(nowNs);
        } else if (!beginFirstTrial(nowNs) && nowNs - sinceNs >= WINDOW_NS) {
            long beganNs = sinceNs;
            boolean toBeSeen = endWindow(nowNs);
            if (!toBeSeen && !isAnyReserved(nowNs)) {
                beginTrial(beganNs, nowNs);
            }
        }
        place(nowNs);
    }

    private void lookAtTrial(long nowNs) {
        boolean inTheWay = tenants.stream().anyMatch(tenant -> (again ? tenant.isLight() : tenant.interactive) && isActive(tenant, nowNs));
        fullInTrial += tried.isFull ? 1 : 0;
        if (inTheWay || !isActive(tried, nowNs) || !isAnotherActive(tried, nowNs)) {
            tried = null;
            begin(nowNs);
        } else if (!again && fullInTrial >= FULL_LOOKS && tenants.stream().anyMatch(tenant -> !tenant.isFull && mayBeTriedFirst(tenant, nowNs))) {
            tried.kind = Kind.HEAVY;
            tried.seenAlone = false;
            tried.retryNs = nowNs + RETRY_NS;
            tried = null;
            begin(nowNs);
        } else if (nowNs - sinceNs < SETTLE_NS) {
            beginLooks(nowNs);
        } else if (nowNs - countedNs >= WINDOW_NS) {
            double duty = (double) tried.busyLooks / looks;
            boolean light = duty <= LIGHT && before - duty >= GAIN;
            boolean makesUp = duty > LIGHT && tried.fullLooks < looks / 2 && nowNs - sinceNs < LONGEST_TRIAL_NS;
            if (makesUp) {
                beginLooks(nowNs);
            } else {
                endTrial(light, nowNs);
            }
        }
    }

    private void endTrial(boolean light, long nowNs) {
        tried.kind = light ? Kind.LIGHT : Kind.HEAVY;
        tried.backoffNs = light ? RETRY_NS : Math.min(2 * tried.backoffNs, LONGEST_RETRY_NS);
        tried.retryNs = nowNs + (light ? tried.wasLight ? LONGEST_RETRY_NS : FIRST_CHECK_NS : tried.backoffNs);
        tried.wasLight = light;
        tried.seenAlone = false;
        tried.heavyWindows = 0;
        tried = null;
        begin(nowNs);
    }

    /** Returns whether a tenant lost its reserve, so that the next window shows what it does without one. */
    private boolean endWindow(long nowNs) {
        boolean lost = false;
        for (Tenant tenant : tenants) {
            tenant.duty = looks == 0 ? 0 : (double) tenant.busyLooks / looks;
            tenant.ahead = looks == 0 ? 0 : (double) tenant.fullLooks / looks;
            tenant.heavyWindows = tenant.duty > NOT_LIGHT ? tenant.heavyWindows + 1 : 0;
            if (tenant.kind == Kind.LIGHT && (tenant.heavyWindows >= HEAVY_WINDOWS || isToBeSeenAgain(tenant, nowNs))) {
                tenant.kind = Kind.UNKNOWN; // it has changed, or its need for the reserve has to be measured again
                tenant.retryNs = nowNs;
                lost = true;
            }
        }
        learnOfOneAlone(nowNs);
        begin(nowNs);
        return lost;
    }

    /**
     * Returns whether a tenant's need has to be measured again. Not during a pause: a window without the reserve would only delay the first requests
     * after it.
     */
    private static boolean isToBeSeenAgain(Tenant tenant, long nowNs) {
        return isActive(tenant, nowNs) && nowNs - tenant.retryNs >= 0 && nowNs - tenant.activeNs >= FIRST_CHECK_NS;
    }

    /** Measures a tenant's need of the device while it is alone, in a window in which it neither began nor stopped. */
    private void learnOfOneAlone(long nowNs) {
        for (Tenant tenant : tenants) {
            if (tenant.activeNs - sinceNs <= 0 && nowNs - tenant.busyNs < STOPPED_NS && !isAnotherActive(tenant, nowNs)) {
                tenant.wasTried = true;
                tenant.seenAlone = true;
                tenant.cameInTrial = false;
                tenant.kind = tenant.duty > LIGHT ? Kind.HEAVY : Kind.LIGHT;
                tenant.retryNs = nowNs + (tenant.kind == Kind.LIGHT ? FIRST_CHECK_NS : RETRY_NS);
            }
        }
    }

    private void begin(long nowNs) {
        sinceNs = nowNs;
        beginLooks(nowNs);
    }

    private void beginLooks(long nowNs) {
        countedNs = nowNs;
        looks = 0;
        for (Tenant tenant : tenants) {
            tenant.busyLooks = 0;
            tenant.fullLooks = 0;
        }
    }

    /**
     * Begins the trial of an unknown tenant as soon as it has work beside others; the tenant that came last is tried first, because it waits for those that
     * were there before. A tenant that returns after a pause is tried as well if it was alone before or may be tried again: programs warm up before they wait
     * for requests.
     */
    private boolean beginFirstTrial(long nowNs) {
        Tenant newest = tenants.stream().filter(tenant -> mayBeTriedFirst(tenant, nowNs)).max(COMING).orElse(null);
        boolean inTheWay = tenants.stream().anyMatch(tenant -> tenant.interactive && isActive(tenant, nowNs));
        if (newest == null || inTheWay || !isAnotherActive(newest, nowNs)) {
            return false;
        }
        newest.wasTried = true;
        again = false;
        beginTrialOf(newest, 1, nowNs);
        return true;
    }

    private boolean mayBeTriedFirst(Tenant tenant, long nowNs) {
        return tenant != tried && !tenant.interactive && isActive(tenant, nowNs) && (!tenant.wasTried || comesBack(tenant, nowNs));
    }

    /** Returns whether a tenant that returns after a pause may be tried; includes one that was alone before and came during another's trial. */
    private boolean comesBack(Tenant tenant, long nowNs) {
        boolean comes = hasJustCome(tenant, nowNs);
        boolean mayBeTried = comes && nowNs - tenant.retryNs >= 0 || tenant.seenAlone && (comes || tenant.cameInTrial);
        return tenant.kind != Kind.LIGHT && mayBeTried && !isAnyReserved(nowNs);
    }

    private static boolean hasJustCome(Tenant tenant, long nowNs) {
        return nowNs - tenant.activeNs < WINDOW_NS;
    }

    private void beginTrialOf(Tenant tenant, double busyBefore, long nowNs) {
        tried = tenant;
        before = busyBefore;
        tenants.stream().filter(other -> hasJustCome(other, nowNs)).forEach(other -> other.cameInTrial = true);
        tenant.cameInTrial = false;
        fullInTrial = 0;
        begin(nowNs);
    }

    /** Begins a trial, but only when all tenants with work have had work in the whole window: a tenant that has just come may be the one that waits. */
    private void beginTrial(long beganNs, long nowNs) {
        if (tenants.stream().anyMatch(tenant -> isActive(tenant, nowNs) && tenant.activeNs - beganNs > 0)) {
            return;
        }
        tenants.stream().filter(tenant -> !tenant.interactive && nowNs - tenant.retryNs >= 0 && tenant.duty > IDLE)
                .filter(tenant -> isActive(tenant, nowNs) && isAnotherActive(tenant, nowNs))
                .max(FIRST)
                .ifPresent(tenant -> {
                    again = true;
                    beginTrialOf(tenant, tenant.duty, nowNs);
                });
    }

    private boolean isAnyReserved(long nowNs) {
        return tenants.stream().anyMatch(tenant -> tenant.isLight() && isActive(tenant, nowNs))
                && tenants.stream().anyMatch(tenant -> !tenant.isLight() && isActive(tenant, nowNs));
    }

    private void place(long nowNs) {
        int reserve = ProcessorParts.WHOLE;
        for (Tenant tenant : tenants) {
            if (isActive(tenant, nowNs) && (tenant == tried || tenant.isLight())) {
                reserve = Math.max(reserve, tenant.interactive ? ProcessorParts.FEWER : ProcessorParts.MOST);
            }
        }
        for (Tenant tenant : tenants) {
            tenant.part = tenant == tried || tenant.isLight() ? ProcessorParts.WHOLE : reserve;
        }
    }
}
