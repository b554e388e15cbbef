package io.tessera.policy;

/** One tenant in a policy; each policy adds its own state. Owned by {@link TenantPolicy}, which alone writes these fields. */
class PolicyTenant {
    /** Present activity of a tenant. */
    enum Activity {
        IDLE, BLOCKED, READY, RUNNING
    }

    final long id;
    TenantTerms terms;
    Activity activity = Activity.IDLE;

    /** Number of unfinished requests, as in its last {@code ready}; 0 if it has none. */
    int requests;

    /** Time since which its oldest request waits. */
    long sinceNs;

    /** Number in the order of becoming ready: larger than those of all earlier ones. */
    long number;

    PolicyTenant(long id, TenantTerms terms) {
        this.id = id;
        this.terms = terms;
    }

    boolean isReady() {
        return activity == Activity.READY;
    }
}
