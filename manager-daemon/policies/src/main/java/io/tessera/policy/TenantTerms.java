package io.tessera.policy;

import java.util.Objects;

/**
 * Settings by an operator for a tenant; may change while it runs. Immutable.
 *
 * @param weight      its part of the device is its weight over the sum of weights; 1 to {@link #MAX_WEIGHT}
 * @param priority    under {@code priority} a higher one comes first; from -{@link #MAX_PRIORITY} to {@link #MAX_PRIORITY}
 * @param tenantClass interactive or batch
 * @param hardCap     largest share of the device's time that it may have, from {@link #MIN_CAP} to 1; 1: no cap
 * @param softCap     largest share that it may have while another tenant has work, from {@link #MIN_CAP} to 1; 1: no cap
 * @param targetNs    time within which a request is to be done, at most {@link #MAX_TARGET_NS}; 0: the value in {@link PolicySettings} for its class
 * @param replayable  whether, in space sharing, a kernel of it that an interactive tenant waits for may be stopped and run again later from its
 *                    beginning (only kernels whose writes are known)
 */
public record TenantTerms(int weight, int priority, TenantClass tenantClass, double hardCap, double softCap, long targetNs, boolean replayable) {
    /** The largest weight: sums of many fit into a long, and shares of a thousandth can be expressed. */
    public static final int MAX_WEIGHT = 1_000_000;

    /** The largest priority. */
    public static final int MAX_PRIORITY = 1_000;

    /** The smallest cap, a thousandth of a per cent: a long kernel is paid off within days, and no sum of debts exceeds the range of the clock. */
    public static final double MIN_CAP = 0.00001;

    /** The longest target, a day: deadlines, which are sums of targets, stay far from the end of the clock's range. */
    public static final long MAX_TARGET_NS = 86_400_000_000_000L;

    /** The terms of a tenant without settings: equal to any other. */
    public static final TenantTerms DEFAULT = new TenantTerms(1, 0, TenantClass.BATCH, 1, 1, 0, false);

    /** Checks every value. */
    public TenantTerms {
        if (weight < 1 || weight > MAX_WEIGHT) {
            throw new IllegalArgumentException("weight " + weight + ": must be from 1 to " + MAX_WEIGHT);
        }
        if (Math.abs(priority) > MAX_PRIORITY) {
            throw new IllegalArgumentException("priority " + priority + ": must be from -" + MAX_PRIORITY + " to " + MAX_PRIORITY);
        }
        Objects.requireNonNull(tenantClass, "tenantClass");
        checkCap("hard cap", hardCap);
        checkCap("soft cap", softCap);
        if (targetNs < 0 || targetNs > MAX_TARGET_NS) {
            throw new IllegalArgumentException("target of " + targetNs + " ns: must be from 0 to " + MAX_TARGET_NS + " ns (24 h)");
        }
    }

    private static void checkCap(String name, double cap) {
        if (!(cap >= MIN_CAP && cap <= 1)) {
            throw new IllegalArgumentException(name + " " + cap + ": must be from 0.00001 (0.001 %) to 1");
        }
    }

    /** Returns a copy with another weight. */
    public TenantTerms withWeight(int newWeight) {
        return new TenantTerms(newWeight, priority, tenantClass, hardCap, softCap, targetNs, replayable);
    }

    /** Returns a copy with another priority. */
    public TenantTerms withPriority(int newPriority) {
        return new TenantTerms(weight, newPriority, tenantClass, hardCap, softCap, targetNs, replayable);
    }

    /** Returns a copy with another class. */
    public TenantTerms withClass(TenantClass newClass) {
        return new TenantTerms(weight, priority, newClass, hardCap, softCap, targetNs, replayable);
    }

    /** Returns a copy with another hard cap. */
    public TenantTerms withHardCap(double cap) {
        return new TenantTerms(weight, priority, tenantClass, cap, softCap, targetNs, replayable);
    }

    /** Returns a copy with another soft cap. */
    public TenantTerms withSoftCap(double cap) {
        return new TenantTerms(weight, priority, tenantClass, hardCap, cap, targetNs, replayable);
    }

    /** Returns a copy with another target. */
    public TenantTerms withTargetNs(long ns) {
        return new TenantTerms(weight, priority, tenantClass, hardCap, softCap, ns, replayable);
    }

    /** Returns a copy that is replayable, or is not. */
    public TenantTerms withReplayable(boolean may) {
        return new TenantTerms(weight, priority, tenantClass, hardCap, softCap, targetNs, may);
    }
}
