package io.tessera.policy;

import java.util.Objects;

/**
 * What an operator sets for a tenant; may change while it runs. Immutable.
 *
 * @param weight      its part of the device is its weight over the sum of weights; 1 to {@link #MAX_WEIGHT}
 * @param priority    a higher one goes first under {@code priority}; from -{@link #MAX_PRIORITY} to {@link #MAX_PRIORITY}
 * @param tenantClass interactive or batch
 * @param hardCap     the most of the device's time that it may have, above 0 to 1; 1: no cap
 * @param softCap     the most that it may have while another tenant has work, above 0 to 1; 1: no cap
 * @param targetNs    within which time a request is to be done; 0: as {@link PolicySettings} say for its class
 */
public record TenantTerms(int weight, int priority, TenantClass tenantClass, double hardCap, double softCap, long targetNs) {
    /** The largest weight: sums of many fit into a long, and shares of a thousandth can be said. */
    public static final int MAX_WEIGHT = 1_000_000;

    /** The largest priority. */
    public static final int MAX_PRIORITY = 1_000;

    /** What a tenant has of whom nobody said anything: it is as good as any other. */
    public static final TenantTerms DEFAULT = new TenantTerms(1, 0, TenantClass.BATCH, 1, 1, 0);

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
        if (targetNs < 0) {
            throw new IllegalArgumentException("target of " + targetNs + " ns: must not be negative");
        }
    }

    private static void checkCap(String name, double cap) {
        if (!(cap > 0 && cap <= 1)) {
            throw new IllegalArgumentException(name + " " + cap + ": must be above 0 and at most 1");
        }
    }

    /** The same with another weight. */
    public TenantTerms withWeight(int newWeight) {
        return new TenantTerms(newWeight, priority, tenantClass, hardCap, softCap, targetNs);
    }

    /** The same with another priority. */
    public TenantTerms withPriority(int newPriority) {
        return new TenantTerms(weight, newPriority, tenantClass, hardCap, softCap, targetNs);
    }

    /** The same in another class. */
    public TenantTerms withClass(TenantClass newClass) {
        return new TenantTerms(weight, priority, newClass, hardCap, softCap, targetNs);
    }

    /** The same with another hard cap. */
    public TenantTerms withHardCap(double cap) {
        return new TenantTerms(weight, priority, tenantClass, cap, softCap, targetNs);
    }

    /** The same with another soft cap. */
    public TenantTerms withSoftCap(double cap) {
        return new TenantTerms(weight, priority, tenantClass, hardCap, cap, targetNs);
    }

    /** The same with another target. */
    public TenantTerms withTargetNs(long ns) {
        return new TenantTerms(weight, priority, tenantClass, hardCap, softCap, ns);
    }
}
