package io.tessera.manager.conductor;

import io.tessera.manager.admission.ClientRules;
import io.tessera.manager.admission.GroupTerms;
import io.tessera.manager.admission.PlaceTerms;
import io.tessera.manager.session.Session;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What holds for tenants, also for those that are not here yet: weights, priorities, classes, caps, clients at once. An operator's settings
 * hold before those that are written down. A tenant is known by its label, another user's by {@link TenantName}. One owner thread.
 */
public final class TenantShares implements ClientRules {
    /** More names than this are a mistake in a script: each is a tenant for which somebody set something. */
    public static final int MOST_TENANTS = 10_000;

    private final int ownUid;
    private final Map<String, TenantTerms> set = new LinkedHashMap<>();
    /** How many clients tenants may have at once by command; 0: any number. */
    private final Map<String, Integer> clients = new LinkedHashMap<>();
    private final Set<String> passing = new HashSet<>();
    /** What lasts of tenants in {@link #passing}, and holds again when their last program has left. */
    private final Map<String, Lasting> beneath = new LinkedHashMap<>();
    /** Tenants whose programs a former manager had, and which have not come to this one. */
    private final Set<String> awaited = new HashSet<>();
    private long changes;
    private ShareRules rules = ShareRules.NONE;

    /** What an operator has set for a tenant until the manager ends. */
    private record Lasting(Optional<TenantTerms> terms, Optional<Integer> clients) {
    }

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

    /** Whether an operator has set anything for a tenant. */
    public boolean isSet(String tenant) {
        return set.containsKey(tenant) || clients.containsKey(tenant);
    }

    void rules(ShareRules newRules) {
        rules = newRules;
    }

    /**
     * Sets what holds for a tenant.
     *
     * @param whileItRuns only until the last of its programs has left; then holds again what was set before to last
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
            if (passing.add(tenant) && isSet(tenant)) {
                beneath.put(tenant, new Lasting(Optional.ofNullable(set.get(tenant)), Optional.ofNullable(clients.get(tenant))));
            }
        } else {
            passing.remove(tenant);
            beneath.remove(tenant);
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
            clients.remove(tenant);
            Lasting lasting = beneath.remove(tenant);
            if (lasting != null) {
                lasting.terms().ifPresent(terms -> set.put(tenant, terms));
                lasting.clients().ifPresent(most -> clients.put(tenant, most));
            }
        }
    }

    /**
     * Sets how many clients a tenant may have at once. Where {@link #set} was called with "while it runs" before, it goes with that.
     *
     * @param most 0: any number; empty: as it is written down
     * @return false if that is one tenant too many
     */
    public boolean clients(String tenant, OptionalInt most) {
        if (most.isEmpty()) {
            changes += clients.remove(tenant) == null ? 0 : 1;
            return true;
        }
        if (clients.size() >= MOST_TENANTS && !clients.containsKey(tenant)) {
            return false;
        }
        changes++;
        clients.put(tenant, most.getAsInt());
        return true;
    }

    /** How many clients tenants may have at once by command; 0: any number. */
    public Map<String, Integer> clients() {
        return Collections.unmodifiableMap(clients);
    }

    @Override
    public PlaceTerms ofTenant(String name) {
        PlaceTerms written = rules.places().ofTenant(name);
        Integer ordered = clients.get(name);
        return ordered == null ? written : new PlaceTerms(ordered, written.devices());
    }

    @Override
    public PlaceTerms ofUser(int uid) {
        return rules.places().ofUser(uid);
    }

    @Override
    public List<GroupTerms> groupsOf(int uid) {
        return rules.places().groupsOf(uid);
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

    /** Tenants for which something is set while they run, and something else to last. */
    public Set<String> withLasting() {
        return Collections.unmodifiableSet(beneath.keySet());
    }

    /** What holds for a tenant when its last program has left, of {@link #withLasting}. */
    public Optional<TenantTerms> lastingTerms(String tenant) {
        return Optional.ofNullable(beneath.get(tenant)).flatMap(Lasting::terms);
    }

    /** How many clients a tenant may have when its last program has left, of {@link #withLasting}. */
    public Optional<Integer> lastingClients(String tenant) {
        return Optional.ofNullable(beneath.get(tenant)).flatMap(Lasting::clients);
    }

    /** What operators have set. */
    public Map<String, TenantTerms> set() {
        return Collections.unmodifiableMap(set);
    }
}
