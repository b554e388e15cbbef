package io.tessera.manager.conductor;

import io.tessera.manager.session.Session;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * What holds for tenants, also for those that are not here yet: weights, priorities, classes, caps. What an operator has set holds before what is
 * written down. A tenant is known by its label, another user's by {@link TenantName}. One owner thread.
 */
public final class TenantShares {
    /** More names than this are a mistake in a script: each is a tenant for which somebody set something. */
    public static final int MOST_TENANTS = 10_000;

    private final int ownUid;
    private final Map<String, TenantTerms> set = new LinkedHashMap<>();
    private final Set<String> passing = new HashSet<>();
    /** Whose programs a former manager had, and which have not come to this one. */
    private final Set<String> awaited = new HashSet<>();
    private long changes;
    private ShareRules rules = ShareRules.NONE;

    /** Nothing is set yet. */
    public TenantShares(int ownUid) {
        this.ownUid = ownUid;
    }

    /** The name of a client's tenant. */
    public String nameOf(Session session) {
        return TenantName.of(session.hello().tenant(), session.peer().uid(), ownUid);
    }

    /** What holds for a tenant. */
    public TenantTerms of(String tenant) {
        TenantTerms own = set.get(tenant);
        return own == null ? written(tenant) : own;
    }

    /** What holds for a tenant for which no operator has set anything. */
    public TenantTerms written(String tenant) {
        return rules.of(tenant, ownUid).orElse(TenantTerms.DEFAULT);
    }

    void rules(ShareRules newRules) {
        rules = newRules;
    }

    /**
     * Sets what holds for a tenant.
     *
     * @param whileItRuns only until the last of its programs has left
     * @return false if that is one tenant too many
     */
    boolean set(String tenant, TenantTerms terms, boolean whileItRuns) {
        boolean asWritten = terms.equals(written(tenant));
        if (!asWritten && set.size() >= MOST_TENANTS && !set.containsKey(tenant)) {
            return false;
        }
        changes++;
        awaited.remove(tenant);
        if (whileItRuns) {
            passing.add(tenant);
        } else {
            passing.remove(tenant);
        }
        if (asWritten) {
            set.remove(tenant);
        } else {
            set.put(tenant, terms);
        }
        return true;
    }

    /** The last program of a tenant has left. */
    void left(String tenant) {
        awaited.remove(tenant);
        if (passing.remove(tenant)) {
            changes++;
            set.remove(tenant);
        }
    }

    /** Programs of a tenant were here when a former manager was killed; they are expected to register again. */
    public void await(String tenant) {
        awaited.add(tenant);
    }

    Set<String> awaited() {
        return Set.copyOf(awaited);
    }

    /** Whether what is set for a tenant goes when the last of its programs has left. */
    public boolean whileItRuns(String tenant) {
        return passing.contains(tenant);
    }

    /** How often something else was set, or went. */
    public long changes() {
        return changes;
    }

    /** What operators have set. */
    public Map<String, TenantTerms> set() {
        return Collections.unmodifiableMap(set);
    }
}
