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
 * Settings of tenants, present or not: weights, priorities, classes, caps, clients at once. An operator's settings have precedence over written ones.
 * A tenant is known by its label, another user's tenant by {@link TenantName}. One owner thread.
 */
public final class TenantShares implements ClientRules {
    /** Maximum number of tenants with settings. More names are a mistake in a script. */
    public static final int MOST_TENANTS = 10_000;

    private final int ownUid;
    private final Map<String, TenantTerms> set = new LinkedHashMap<>();
    /** Maximum numbers of clients of tenants, set by command; 0: any number. */
    private final Map<String, Integer> clients = new LinkedHashMap<>();
    private final Set<String> passing = new HashSet<>();
    /** Lasting settings of tenants in {@link #passing}, which hold again after their last program has left. */
    private final Map<String, Lasting> beneath = new LinkedHashMap<>();
    /** Tenants whose programs a former manager had, and which have not registered with this one. */
    private final Set<String> awaited = new HashSet<>();
    private long changes;
    private ShareRules rules = ShareRules.NONE;

    /** An operator's settings for a tenant, until the manager ends. */
    private record Lasting(Optional<TenantTerms> terms, Optional<Integer> clients) {
    }

    /** Creates an object without settings. */
    public TenantShares(int ownUid) {
        this.ownUid = ownUid;
    }

    /** Returns the name of a client's tenant. */
    public String nameOf(Session session) {
        return TenantName.of(session.hello().tenant(), session.peer().uid(), ownUid);
    }

    /** Returns the terms of a tenant. */
    public TenantTerms of(String tenant) {
        TenantTerms own = set.get(tenant);
        return own == null ? written(tenant) : own;
    }

    /** Returns the terms of a tenant without an operator's settings. */
    public TenantTerms written(String tenant) {
        return rules.of(tenant, ownUid).orElse(TenantTerms.DEFAULT);
    }

    /** Returns whether an operator has set anything for a tenant. */
    public boolean isSet(String tenant) {
        return set.containsKey(tenant) || clients.containsKey(tenant);
    }

    void rules(ShareRules newRules) {
        rules = newRules;
    }

    /**
     * Sets the terms of a tenant.
     *
     * @param whileItRuns true: only until the last of its programs has left; then the former lasting settings hold again
     * @return false if too many tenants would have settings
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

    /** Records that the last program of a tenant has left. */
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
     * Sets how many clients a tenant may have at once. If {@link #set} was called with "while it runs" before, this setting ends with that one.
     *
     * @param most maximum number; 0: any number; empty: the written number
     * @return false if too many tenants would have settings
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

    /** Returns the maximum numbers of clients of tenants, set by command; 0: any number. */
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

    /** Notes that programs of a tenant were here when a former manager was killed; they are expected to register again. */
    public void await(String tenant) {
        awaited.add(tenant);
    }

    Set<String> awaited() {
        return Set.copyOf(awaited);
    }

    /** Returns whether a tenant's settings end when the last of its programs has left. */
    public boolean whileItRuns(String tenant) {
        return passing.contains(tenant);
    }

    /** Returns the number of changes of settings. */
    public long changes() {
        return changes;
    }

    /** Returns the tenants that have settings while they run and other lasting ones. */
    public Set<String> withLasting() {
        return Collections.unmodifiableSet(beneath.keySet());
    }

    /** Returns the terms of a tenant of {@link #withLasting} after its last program has left. */
    public Optional<TenantTerms> lastingTerms(String tenant) {
        return Optional.ofNullable(beneath.get(tenant)).flatMap(Lasting::terms);
    }

    /** Returns the maximum number of clients of a tenant of {@link #withLasting} after its last program has left. */
    public Optional<Integer> lastingClients(String tenant) {
        return Optional.ofNullable(beneath.get(tenant)).flatMap(Lasting::clients);
    }

    /** Returns the settings by operators. */
    public Map<String, TenantTerms> set() {
        return Collections.unmodifiableMap(set);
    }
}
