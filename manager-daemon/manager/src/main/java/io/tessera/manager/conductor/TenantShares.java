package io.tessera.manager.conductor;

import io.tessera.manager.session.Session;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What operators have set for tenants, also for those that are not here yet: weights, priorities, classes, caps. A tenant is known by its label,
 * another user's by {@link TenantName}. One owner thread.
 */
public final class TenantShares {
    /** More names than this are a mistake in a script: each is a tenant for which somebody set something. */
    public static final int MOST_TENANTS = 10_000;

    private final int ownUid;
    private final Map<String, TenantTerms> terms = new LinkedHashMap<>();

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
        return terms.getOrDefault(tenant, TenantTerms.DEFAULT);
    }

    /**
     * Sets what holds for a tenant.
     *
     * @return false if that is one tenant too many
     */
    boolean set(String tenant, TenantTerms newTerms) {
        if (newTerms.equals(TenantTerms.DEFAULT)) {
            terms.remove(tenant);
            return true;
        }
        if (terms.size() >= MOST_TENANTS && !terms.containsKey(tenant)) {
            return false;
        }
        terms.put(tenant, newTerms);
        return true;
    }

    /** The tenants for which something is set. */
    public Map<String, TenantTerms> all() {
        return Collections.unmodifiableMap(terms);
    }
}
