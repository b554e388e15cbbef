package io.tessera.memory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Shares each tenant's memory limit on each device out among the tenant's clients, as leases: what a client may use
 * without asking (SPEC.md of the protocol, section 5). The leases of a tenant never add up to more than its limit,
 * except after the limit was lowered below what was leased, and then they only shrink.
 *
 * <p>What the caller has to keep to, so that ledger and clients agree: it tells a client every lease that a decision,
 * an answer or a {@link LimitChange} names; it sends one trim to each client that one of them names; messages to one
 * client arrive in the order in which the ledger produced them; a client answers each trim with one return.
 * A return that answers no trim is passed over: it may have crossed an answer, and then the client has more.
 *
 * <p>Not thread-safe: one owner thread. Times are the caller's monotonic clock.
 */
public final class QuotaLedger {
    private record Key(String tenant, String device) {
    }

    private final Map<Key, TenantQuota> accounts = new LinkedHashMap<>();

    /** By client, then by device. */
    private final Map<Long, Map<String, TenantQuota>> byClient = new HashMap<>();

    private TenantQuota account(String tenant, String device) {
        Objects.requireNonNull(tenant, "tenant");
        Objects.requireNonNull(device, "device");
        return accounts.computeIfAbsent(new Key(tenant, device), key -> new TenantQuota(tenant, device));
    }

    /**
     * A new client of the tenant on the device; the tenant's first gets the whole limit as its lease, later ones
     * nothing until they ask.
     *
     * @return its lease in bytes, which it has to be told
     * @throws IllegalStateException if it is there already
     */
    public long join(String tenant, String device, long client) {
        TenantQuota account = account(tenant, device);
        register(account, device, client);
        return account.enter(client).bytes();
    }

    /**
     * A client that had a lease from an earlier manager and goes on with it, even beyond the limit; then the tenant's
     * clients are asked to give back.
     *
     * @param leaseBytes what the client says it has
     * @throws IllegalStateException if it is there already
     */
    public LimitChange rejoin(String tenant, String device, long client, long leaseBytes) {
        requireSize("leaseBytes", leaseBytes);
        TenantQuota account = account(tenant, device);
        register(account, device, client);
        if (account.unlimited()) {
            account.enter(client, QuotaDecision.UNLIMITED);
            return new LimitChange(leaseBytes == QuotaDecision.UNLIMITED ? Map.of() : Map.of(client, QuotaDecision.UNLIMITED), List.of());
        }
        account.enter(client, leaseBytes);
        return new LimitChange(Map.of(), account.trimIfOver());
    }

    private void register(TenantQuota account, String device, long client) {
        Map<String, TenantQuota> devices = byClient.computeIfAbsent(client, id -> new HashMap<>());
        if (devices.putIfAbsent(device, account) != null) {
            throw new IllegalStateException("client " + client + " is on " + device + " already");
        }
    }

    /** The client is gone from all devices, and its leases with it. Unknown clients are no error. */
    public void leave(long client) {
        Map<String, TenantQuota> devices = byClient.remove(client);
        if (devices == null) {
            return;
        }
        devices.forEach((device, account) -> {
            account.leave(client);
            if (account.isUnused()) {
                accounts.remove(new Key(account.tenant(), device));
            }
        });
    }

    /**
     * Sets a tenant's limit on a device. Lowering it takes nothing away that is used: clients are asked to give back
     * what they do not use, and nobody gets more until the leases fit.
     *
     * <p>The limit stays when the tenant's last client leaves, until it is set to none.
     *
     * @param bytes 0: none
     */
    public LimitChange limit(String tenant, String device, long bytes) {
        requireSize("bytes", bytes);
        TenantQuota account = account(tenant, device);
        LimitChange change = account.limit(bytes == 0 ? QuotaDecision.UNLIMITED : bytes);
        if (account.isUnused()) {
            accounts.remove(new Key(tenant, device));
        }
        return change;
    }

    /**
     * A client needs more than its lease. On {@link QuotaDecision.Trim} the answer comes from {@link #decided}, at
     * the latest when {@code deadlineNs} is over. A second ask before the answer is answered with the first.
     *
     * @param needBytes  beyond the lease
     * @param deadlineNs until when others may give back
     * @throws IllegalStateException if the client is not on the device
     */
    public QuotaDecision ask(long client, String device, long needBytes, long deadlineNs) {
        requireSize("needBytes", needBytes);
        TenantQuota account = accountOf(client, device);
        return account.ask(account.lease(client), needBytes, deadlineNs);
    }

    /**
     * A client answers a trim: it lowered its lease to {@code grantedBytes}. Asks that wait for it are answered by
     * the next {@link #decided}.
     *
     * @return whether it was taken; not if it answers no trim, or one that an answer overtook
     * @throws IllegalStateException if the client is not on the device
     */
    public boolean returned(long client, String device, long grantedBytes) {
        requireSize("grantedBytes", grantedBytes);
        return accountOf(client, device).lease(client).returned(grantedBytes);
    }

    /** Answers to asks that had to wait and can be decided now; to be called after every event and at deadlines. */
    public List<QuotaAnswer> decided(long nowNs) {
        List<QuotaAnswer> answers = new ArrayList<>();
        for (TenantQuota account : accounts.values()) {
            account.decide(nowNs, answers);
        }
        return answers;
    }

    /** When {@link #decided} has an answer at the latest; {@link Long#MAX_VALUE} while nothing waits. */
    public long nextDeadlineNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (TenantQuota account : accounts.values()) {
            deadlineNs = Math.min(deadlineNs, account.nextDeadlineNs());
        }
        return deadlineNs;
    }

    /**
     * What the client may use on the device without asking.
     *
     * @throws IllegalStateException if the client is not on the device
     */
    public long leaseBytes(long client, String device) {
        return accountOf(client, device).lease(client).bytes();
    }

    /** The leases of the tenant's clients on the device, added up; at most {@link #UNLIMITED}. */
    public long leasedBytes(String tenant, String device) {
        TenantQuota account = accounts.get(new Key(tenant, device));
        return account == null ? 0 : account.leasedBytes();
    }

    private TenantQuota accountOf(long client, String device) {
        TenantQuota account = byClient.getOrDefault(client, Map.of()).get(device);
        if (account == null) {
            throw new IllegalStateException("client " + client + " is not on " + device);
        }
        return account;
    }

    private static void requireSize(String name, long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(name + " is negative: " + bytes);
        }
    }
}
