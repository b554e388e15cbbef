package io.tessera.manager.admission;

import io.tessera.protocol.message.EscapedText;
import io.tessera.protocol.message.TenantName;

/**
 * The maximum numbers of clients at once. A user other than the manager's own never gets all places that such users may have. Immutable apart from
 * its rules.
 *
 * @param most  maximum number of all clients
 * @param uid   the manager's user
 * @param rules settings of tenants, users and groups
 */
public record ClientPlaces(int most, int uid, ClientRules rules) {
    /** A user leaves one in this many places to others. */
    private static final int FOR_OTHERS = 4;

    /** Creates places without settings for any tenant, user or group. */
    public ClientPlaces(int most, int uid) {
        this(most, uid, ClientTerms.NONE);
    }

    /** Returns the tenant's name for a user's label. */
    String nameOf(int user, String label) {
        return TenantName.of(label, user, uid);
    }

    /** Returns why a client of a user's tenant cannot come; null if it can. */
    String full(PlaceCounts counts, int user, String label) {
        if (counts.all() >= most) {
            return "as many clients as this manager admits are there already: " + most + " (--max-clients)";
        }
        String who = "user " + Integer.toUnsignedString(user);
        int mostOfUser = user == uid ? most : most - most / FOR_OTHERS;
        int ofUser = counts.ofUser(user);
        if (ofUser >= mostOfUser) {
            return who + " has as many clients as one user may have: " + mostOfUser + " of " + most + " (--max-clients)";
        }
        int mostOfTenant = rules.ofTenant(nameOf(user, label)).clients();
        if (isFull(mostOfTenant, counts.ofTenant(user, label))) {
            return "tenant \"" + EscapedText.of(label) + "\" has as many clients at once as it may have: " + mostOfTenant
                    + " (clients in tessera.toml, or tessera tenant)";
        }
        int mostSet = rules.ofUser(user).clients();
        if (isFull(mostSet, ofUser)) {
            return who + " has as many clients at once as that user may have: " + mostSet + " (clients in tessera.toml)";
        }
        for (GroupTerms group : rules.groupsOf(user)) {
            if (isFull(group.clients(), counts.ofUsers(group.members()))) {
                return "group " + group.name() + " has as many clients at once as its users may have together: " + group.clients()
                        + " (clients in tessera.toml)";
            }
            if (mostSet == 0 && isFull(group.each(), ofUser)) {
                return who + " has as many clients at once as each user of group " + group.name() + " may have: " + group.each()
                        + " (clients-each in tessera.toml)";
            }
        }
        return null;
    }

    private static boolean isFull(int most, int clients) {
        return most > 0 && clients >= most;
    }
}
