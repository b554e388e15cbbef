package io.tessera.memory;

import static io.tessera.memory.QuotaDecision.UNLIMITED;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One tenant's limit on one device, its clients' leases and the waiting requests. Not thread-safe. */
final class TenantQuota {
    /**
     * If the tenant has several clients, grants are multiples of this size, so that not every allocation needs a request. It is twice the 32 MiB by
     * which frameworks enlarge their pools at least.
     */
    static final long GRAIN_BYTES = 64L << 20;

    /** A request that waits for trims; {@code needBytes} beyond the lease. */
    private static final class Ask {
        final Lease lease;
        long needBytes;
        final long deadlineNs;

        Ask(Lease lease, long needBytes, long deadlineNs) {
            this.lease = lease;
            this.needBytes = needBytes;
            this.deadlineNs = deadlineNs;
        }
    }

    private final String tenant;
    private final String device;
    private final Map<Long, Lease> leases = new LinkedHashMap<>();
    private final ArrayDeque<Ask> asks = new ArrayDeque<>();
    private long limitBytes = UNLIMITED;

    TenantQuota(String tenant, String device) {
        this.tenant = tenant;
        this.device = device;
    }

    boolean isUnused() {
        return leases.isEmpty() && limitBytes == UNLIMITED;
    }

    String tenant() {
        return tenant;
    }

    Lease lease(long client) {
        return leases.get(client);
    }

    /** Adds a client. The first one gets everything that is not leased, the others nothing. */
    Lease enter(long client) {
        long bytes = limitBytes == UNLIMITED ? UNLIMITED : leases.isEmpty() ? limitBytes : 0;
        return enter(client, bytes);
    }

    Lease enter(long client, long bytes) {
        Lease lease = new Lease(client, bytes);
        leases.put(client, lease);
        return lease;
    }

    void leave(long client) {
        leases.remove(client);
        asks.removeIf(ask -> ask.lease.client == client);
    }

    LimitChange limit(long bytes) {
        limitBytes = bytes;
        Map<Long, Long> changed = new LinkedHashMap<>();
        if (bytes == UNLIMITED) {
            for (Lease lease : leases.values()) {
                if (lease.bytes() != UNLIMITED) {
                    lease.told(UNLIMITED);
                    changed.put(lease.client, UNLIMITED);
                }
            }
            // The change answers their requests.
            asks.removeIf(ask -> changed.containsKey(ask.lease.client));
        }
        return new LimitChange(changed, trimIfOver());
    }

    boolean unlimited() {
        return limitBytes == UNLIMITED;
    }

    /** Asks all clients to give back while more is leased than the limit allows. */
    List<Long> trimIfOver() {
        return leasedBytes() > limitBytes ? trimAll(null) : List.of();
    }

    QuotaDecision ask(Lease lease, long needBytes, long deadlineNs) {
        for (Ask waiting : asks) {
            if (waiting.lease == lease) {
                // One answer serves both: it contains the whole lease.
                waiting.needBytes = Math.max(waiting.needBytes, needBytes);
                return new QuotaDecision.Trim(List.of());
            }
        }
        if (limitBytes == UNLIMITED) {
            lease.told(UNLIMITED);
            return new QuotaDecision.Granted(UNLIMITED);
        }
        if (asks.isEmpty() && needBytes <= freeBytes()) {
            return grant(lease, needBytes);
        }
        boolean possible = needBytes <= limitBytes && lease.bytes() <= limitBytes - needBytes;
        List<Long> trim = possible ? trimAll(lease) : List.of();
        if (!possible && !lease.trimmed() || asks.isEmpty() && !anyTrimmed()) {
            return refuse(lease, needBytes);
        }
        asks.add(new Ask(lease, needBytes, deadlineNs));
        return new QuotaDecision.Trim(trim);
    }

    /**
     * Answers requests in their order as far as possible. While one waits, later ones get no memory for which it may be waiting. Before the deadline, a
     * client is not refused while its own return is outstanding: the refusal would hand back the memory that it is giving up.
     */
    void decide(long nowNs, List<QuotaAnswer> answers) {
        boolean oneWaits = false;
        Iterator<Ask> waiting = asks.iterator();
        while (waiting.hasNext()) {
            Ask ask = waiting.next();
            QuotaDecision decision;
            if (!oneWaits && ask.needBytes <= freeBytes()) {
                decision = grant(ask.lease, ask.needBytes);
            } else if (nowNs >= ask.deadlineNs || (!oneWaits && !anyTrimmed())) {
                decision = refuse(ask.lease, ask.needBytes);
            } else {
                oneWaits = true;
                continue;
            }
            waiting.remove();
            answers.add(new QuotaAnswer(ask.lease.client, device, decision));
        }
    }

    long nextDeadlineNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (Ask ask : asks) {
            deadlineNs = Math.min(deadlineNs, ask.deadlineNs);
        }
        return deadlineNs;
    }

    private QuotaDecision grant(Lease lease, long needBytes) {
        long freeBytes = freeBytes();
        long extraBytes = leases.size() == 1 ? freeBytes : Math.min(freeBytes, wholeGrains(needBytes));
        lease.told(lease.bytes() + extraBytes);
        return new QuotaDecision.Granted(lease.bytes());
    }

    private static long wholeGrains(long bytes) {
        long grains = Math.ceilDiv(bytes, GRAIN_BYTES);
        return grains > Long.MAX_VALUE / GRAIN_BYTES ? Long.MAX_VALUE : grains * GRAIN_BYTES;
    }

    private QuotaDecision refuse(Lease lease, long needBytes) {
        lease.told(lease.bytes());
        return new QuotaDecision.Refused(lease.bytes(), "tenant " + tenant + " is limited to " + limitBytes
                + " bytes on " + device + ": the client has " + lease.bytes() + " and asks for " + needBytes
                + " more, the tenant's other clients have " + othersBytes(lease));
    }

    private List<Long> trimAll(Lease except) {
        List<Long> trim = new ArrayList<>();
        for (Lease lease : leases.values()) {
            if (lease != except && lease.bytes() > 0 && !lease.trimmed()) {
                lease.trim();
                trim.add(lease.client);
            }
        }
        return trim;
    }

    private boolean anyTrimmed() {
        for (Lease lease : leases.values()) {
            if (lease.trimmed()) {
                return true;
            }
        }
        return false;
    }

    private long freeBytes() {
        return Math.max(0, limitBytes - leasedBytes());
    }

    long leasedBytes() {
        return othersBytes(null);
    }

    private long othersBytes(Lease except) {
        long sum = 0;
        for (Lease lease : leases.values()) {
            if (lease != except) {
                sum = sum > UNLIMITED - lease.bytes() ? UNLIMITED : sum + lease.bytes();
            }
        }
        return sum;
    }
}
