package io.tessera.policy;

/** One tenant in a policy; each policy adds what it has to remember. Owned by {@link TenantPolicy}, which alone writes these fields. */
class PolicyTenant {
    /** What a tenant does now. */
    enum Activity {
        IDLE, BLOCKED, READY, RUNNING
    }

    final long id;
    TenantTerms terms;
    Activity activity = Activity.IDLE;

    /** Requests that are not done, as its last {@code ready} said; 0 where it has none. */
    int requests;

    /** Since when its oldest request waits. */
    long sinceNs;

    /** Larger than those of all that became ready before it. */
    long number;

    PolicyTenant(long id, TenantTerms terms) {
        this.id = id;
        this.terms = terms;
    }

    boolean isReady() {
        return activity == Activity.READY;
    }
}
