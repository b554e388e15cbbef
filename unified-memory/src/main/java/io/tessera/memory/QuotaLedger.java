package io.tessera.memory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Divides each tenant's memory limit on each device among the tenant's clients, as leases: a client may use its lease without asking (SPEC.md of the
 * protocol, section 5). The sum of a tenant's leases never exceeds its limit, except after the limit was lowered below what was leased, and then the
 * leases only shrink.
 *
 * <p>For ledger and clients to agree, the caller tells a client every lease that a decision, an answer or a {@link LimitChange} contains for it, and sends
 * one trim to each client that is listed there for trimming. Messages to one client must arrive in the order in which the ledger produced them, and a client
 * answers each trim with one return. A return that answers no trim is ignored: it may have crossed an answer, after which the client has more.
 *
 * <p>Not thread-safe: one owner thread. Times are the caller's monotonic clock.
 */
public final class QuotaLedger {
    private record Key(String tenant, String device) {
    }

    private final Map<Key, TenantQuota> accounts = new LinkedHashMap<>();

    /** Quotas by client, then by device. */
    private final Map<Long, Map<String, TenantQuota>> byClient = new HashMap<>();

    private TenantQuota account(String tenant, String device) {
        Objects.requireNonNull(tenant, "tenant");
        Objects.requireNonNull(device, "device");
        return accounts.computeIfAbsent(new Key(tenant, device), key -> new TenantQuota(tenant, device));
    }

    /**
     * Adds a client of the tenant on the device. The tenant's first client gets the whole limit as its lease, later ones nothing until they ask.
     *
     * @return its lease in bytes, which it has to be told
     * @throws IllegalStateException if the client is on the device already
     */
    public long join(String tenant, String device, long client) {
        TenantQuota account = account(tenant, device);
        register(account, device, client);
        return account.enter(client).bytes();
    }

    /**
     * Adds a client that had a lease from an earlier manager and keeps it, even beyond the limit; the tenant's clients are then asked to give back.
     *
     * @param leaseBytes the client's lease, as it reports
     * @throws IllegalStateException if the client is on the device already
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

    /** Removes a client from all devices, with its leases. An unknown client is not an error. */
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
     * Sets a tenant's limit on a device. A lower limit does not take away used memory: clients are asked to give unused memory back, and no client gets
     * more until the leases fit.
     *
     * <p>The limit stays when the tenant's last client leaves, until it is set to none.
     *
     * @param bytes the limit; 0: none
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
     * Handles a client's request for more than its lease. On {@link QuotaDecision.Trim} the answer comes from {@link #decided}, at the latest after
     * {@code deadlineNs}. A second request before the answer is answered together with the first.
     *
     * @param needBytes  bytes beyond the lease
     * @param deadlineNs time until which others may give memory back
     * @throws IllegalStateException if the client is not on the device
     */
    public QuotaDecision ask(long client, String device, long needBytes, long deadlineNs) {
        requireSize("needBytes", needBytes);
        TenantQuota account = accountOf(client, device);
        return account.ask(account.lease(client), needBytes, deadlineNs);
    }

    /**
     * Handles a client's answer to a trim: it lowered its lease to {@code grantedBytes}. Requests that wait for it are answered by the next {@link
     * #decided}.
     *
     * @return whether it was accepted; false if it answers no trim, or if a later answer has replaced it
     * @throws IllegalStateException if the client is not on the device
     */
    public boolean returned(long client, String device, long grantedBytes) {
        requireSize("grantedBytes", grantedBytes);
        return accountOf(client, device).lease(client).returned(grantedBytes);
    }

    /** Returns the answers to requests that had to wait and can be decided now. To be called after every event and at deadlines. */
    public List<QuotaAnswer> decided(long nowNs) {
        List<QuotaAnswer> answers = new ArrayList<>();
        for (TenantQuota account : accounts.values()) {
            account.decide(nowNs, answers);
        }
        return answers;
    }

    /** Returns when {@link #decided} has an answer at the latest; {@link Long#MAX_VALUE} while no request waits. */
    public long nextDeadlineNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (TenantQuota account : accounts.values()) {
            deadlineNs = Math.min(deadlineNs, account.nextDeadlineNs());
        }
        return deadlineNs;
    }

    /**
     * Returns what the client may use on the device without asking.
     *
     * @throws IllegalStateException if the client is not on the device
     */
    public long leaseBytes(long client, String device) {
        return accountOf(client, device).lease(client).bytes();
    }

    /** Returns the sum of the leases of the tenant's clients on the device; at most {@link #UNLIMITED}. */
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
