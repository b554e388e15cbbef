package io.tessera.manager.conductor;

import io.tessera.manager.admission.ClientTerms;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.util.Map;
import java.util.Optional;

/**
 * Written settings of tenants. Immutable.
 *
 * @param tenants terms by the tenant's name
 * @param users   terms by user number, for programs without a rule of their own
 * @param places  numbers of clients at once, and the devices on which they are placed
 */
public record ShareRules(Map<String, TenantTerms> tenants, Map<Integer, TenantTerms> users, ClientTerms places) {
    /** Rules without any setting. */
    public static final ShareRules NONE = new ShareRules(Map.of(), Map.of(), ClientTerms.NONE);

    /** Copies the maps. */
    public ShareRules {
        tenants = Map.copyOf(tenants);
        users = Map.copyOf(users);
    }

    /** Returns the written terms of a tenant, or of its user. */
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
