package io.tessera.manager.conductor;

import io.tessera.manager.admission.ClientTerms;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.util.Map;
import java.util.Optional;

/**
 * What is written down for tenants. Immutable.
 *
 * @param tenants by the tenant's name
 * @param users   by the number of the user whose programs have no rule of their own
 * @param places  how many clients they have at once, and on which devices they are placed
 */
public record ShareRules(Map<String, TenantTerms> tenants, Map<Integer, TenantTerms> users, ClientTerms places) {
    /** Nothing is. */
    public static final ShareRules NONE = new ShareRules(Map.of(), Map.of(), ClientTerms.NONE);

    /** Copies the maps. */
    public ShareRules {
        tenants = Map.copyOf(tenants);
        users = Map.copyOf(users);
    }

    /** What is written down for a tenant, or for its user. */
    Optional<TenantTerms> of(String tenant, int ownUid) {
        TenantTerms own = tenants.get(tenant);
        if (own != null) {
            return Optional.of(own);
        }
        String user = TenantName.user(tenant);
        try {
            return Optional.ofNullable(users.get(user.isEmpty() ? ownUid : Integer.parseUnsignedInt(user)));
        } catch (NumberFormatException e) {
            return Optional.empty(); // a label that only looks like another user's
        }
    }
}
