package io.tessera.manager.conductor;

import io.tessera.memory.LimitChange;
import io.tessera.memory.QuotaAnswer;
import io.tessera.memory.QuotaDecision;
import io.tessera.memory.QuotaLedger;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.segment.DeviceBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tenants' memory limits as clients see them (SPEC.md, section 5). Passes what clients say to the ledger, and the ledger's decisions to the
 * clients, in its order. Writes what a tenant's other clients use. One owner thread.
 *
 * <p>A tenant is a label of one user: equal labels of two users are two tenants. The last client of a tenant that names a limit sets it for all its
 * clients, until the last one has left.
 */
public final class Leases {
    /** Longest wait for others to give memory back; the asking client waits 2 s (SPEC.md, section 5). */
    static final long TRIM_WAIT_NS = 1_000_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(Leases.class);

    private final QuotaLedger ledger = new QuotaLedger();
    private final SwapPool pool = new SwapPool();
    /** The ledgers of the trims that each client has yet to answer, in order: a client answers each with one return. */
    private final Map<DeviceClient, ArrayDeque<QuotaLedger>> trims = new HashMap<>();
    /** The total that each client asked for, until it is answered. */
    private final Map<DeviceClient, Long> wanted = new HashMap<>();
    private final Map<Group, List<DeviceClient>> groups = new LinkedHashMap<>();

    /** A tenant on a device. */
    private record Group(String tenant, DeviceUuid uuid) {
        static Group of(DeviceClient member) {
            return new Group(tenantOf(member), member.announcement().uuid());
        }

        String device() {
            return uuid.toString();
        }
    }

    /** Returns the name of a client's tenant: its label and its user. */
    public static String tenantOf(DeviceClient member) {
        return Integer.toUnsignedString(member.session().peer().uid()) + ":" + member.session().hello().tenant();
    }

    /** Adds a client to a device and sends it its first lease. */
    void joined(DeviceClient member) {
        Group group = Group.of(member);
        List<DeviceClient> members = groups.computeIfAbsent(group, g -> new ArrayList<>());
        long asked = member.session().hello().limitBytes();
        if (asked != 0) {
            // No device has 2^63 bytes: such a limit counts as none.
            apply(group, ledger.limit(group.tenant, group.device(), asked < 0 ? 0 : asked), ledger);
        }
        members.add(member);
        long inUse = bytesInUse(member);
        if (SwapPool.governs(member)) {
            trim(group, pool.joined(member, inUse).trim(), pool.ledger);
        }
        if (inUse == 0) {
            answer(member, ledger.join(group.tenant, group.device(), member.clientId()));
        } else {
            // The client has registered again after a manager's end: it keeps what it uses, even beyond the limit.
            LimitChange change = ledger.rejoin(group.tenant, group.device(), member.clientId(), inUse);
            answer(member, inUse);
            apply(group, change, ledger);
        }
        refreshUse(members);
        writeLimit(group, asked);
    }

    /** Writes the limit of a tenant's clients: a new limit applies to all; a client that named none gets that of the others. */
    private void writeLimit(Group group, long asked) {
        List<DeviceClient> members = groups.get(group);
        long[] limit = {asked < 0 ? 0 : asked};
        if (asked == 0) {
            members.getFirst().touch(block -> limit[0] = block.limitBytes());
        }
        members.forEach(member -> member.touch(block -> block.limitBytes(limit[0])));
    }

    /**
     * Returns the bytes in use, at most the device's memory: a client's own report must not become a lease without a bound. With plan swap too, a
     * client's own memory fits the device.
     */
    private static long bytesInUse(DeviceClient member) {
        long[] used = new long[1];
        member.touch(block -> used[0] = Math.clamp(block.usedBytes(), 0, member.announcement().totalBytes()));
        return used[0];
    }

    /** Removes a client that has left all devices; called for each of them. */
    void left(DeviceClient member) {
        Group group = Group.of(member);
        List<DeviceClient> members = groups.get(group);
        members.remove(member);
        if (members.isEmpty()) {
            groups.remove(group);
            ledger.limit(group.tenant, group.device(), 0); // the limit was that of its clients
        }
        ledger.leave(member.clientId());
        pool.left(member);
        trims.remove(member);
        wanted.remove(member);
        refreshUse(members);
    }

    /** Handles a client's need for bytes beyond its lease (unsigned). */
    void asked(DeviceClient member, long needBytes, long nowNs) {
        Group group = Group.of(member);
        refreshUse(groups.get(group));
        long lease = ledger.leaseBytes(member.clientId(), group.device());
        long told = bounded(member, lease);
        if (needBytes < 0) {
            answer(member, lease);
            return;
        }
        long total = told > QuotaDecision.UNLIMITED - needBytes ? QuotaDecision.UNLIMITED : told + needBytes;
        wanted.put(member, total);
        if (total <= lease && SwapPool.governs(member)) {
            askPool(member, nowNs + SwapPool.WAIT_NS, nowNs);
            return;
        }
        long more = lease == QuotaDecision.UNLIMITED ? needBytes : total - lease;
        QuotaDecision decision = ledger.ask(member.clientId(), group.device(), more, nowNs + TRIM_WAIT_NS);
        if (decision instanceof QuotaDecision.Trim trim) {
            trim(group, trim.clients(), ledger);
        } else {
            decided(member, decision, nowNs);
        }
    }

    /** Asks whether the device and the host can hold what the tenant's limit allows. */
    private void askPool(DeviceClient member, long deadlineNs, long nowNs) {
        decidedByPool(member, pool.ask(member, wanted.getOrDefault(member, 0L), deadlineNs, nowNs));
    }

    private void decidedByPool(DeviceClient member, QuotaDecision decision) {
        switch (decision) {
            case QuotaDecision.Granted _ -> answer(member);
            case QuotaDecision.Refused refused -> {
                LOG.info("{}: the host and the device hold no more: {}", member.session(), refused.reason());
                answer(member);
            }
            case QuotaDecision.Trim trim -> trim(Group.of(member), trim.clients(), pool.ledger);
        }
    }

    /** Records that a client lowered its lease (unsigned). */
    void returned(DeviceClient member, long grantedBytes) {
        Group group = Group.of(member);
        long lowered = grantedBytes < 0 ? QuotaDecision.UNLIMITED : grantedBytes;
        ArrayDeque<QuotaLedger> open = trims.get(member);
        QuotaLedger asker = open == null ? null : open.poll();
        if (asker == null || !asker.returned(member.clientId(), group.device(), lowered)) {
            LOG.debug("{} gave back on {} unasked, or an answer overtook it", member.session(), group.device());
        }
        refreshUse(groups.get(group));
    }

    /** Sets what clients of plan swap may have together on a device: what the device and the host can hold. */
    public void leasable(DeviceUuid device, long bytes) {
        LimitChange change = pool.limit(device, bytes);
        change.leases().keySet().forEach(client -> {
            DeviceClient member = member(client, device.toString());
            if (member != null) {
                answer(member);
            }
        });
        change.trim().forEach(client -> trim(member(client, device.toString()), pool.ledger));
    }

    /** Answers requests that had to wait and can be answered now. */
    int doWork(long nowNs) {
        int answered = 0;
        if (ledger.nextDeadlineNs() != Long.MAX_VALUE) {
            List<QuotaAnswer> answers = ledger.decided(nowNs);
            for (QuotaAnswer answer : answers) {
                DeviceClient member = member(answer.client(), answer.device());
                if (member != null) {
                    decided(member, answer.decision(), nowNs);
                }
            }
            answered += answers.size();
        }
        for (Map.Entry<DeviceClient, QuotaDecision> decided : pool.decided(nowNs).entrySet()) {
            decidedByPool(decided.getKey(), decided.getValue());
            answered++;
        }
        for (SwapPool.Waiting due : pool.due(nowNs)) {
            askPool(due.member(), due.deadlineNs(), nowNs);
            answered++;
        }
        return answered;
    }

    long nextDeadlineNs() {
        return Math.min(ledger.nextDeadlineNs(), pool.nextDeadlineNs());
    }

    private DeviceClient member(long clientId, String device) {
        for (Map.Entry<Group, List<DeviceClient>> entry : groups.entrySet()) {
            if (entry.getKey().device().equals(device)) {
                for (DeviceClient member : entry.getValue()) {
                    if (member.clientId() == clientId) {
                        return member;
                    }
                }
            }
        }
        return null;
    }

    private void decided(DeviceClient member, QuotaDecision decision, long nowNs) {
        switch (decision) {
            case QuotaDecision.Granted granted -> {
                if (SwapPool.governs(member) && wanted.getOrDefault(member, 0L) > pool.leaseBytes(member)) {
                    askPool(member, nowNs + SwapPool.WAIT_NS, nowNs);
                } else {
                    answer(member, granted.leaseBytes());
                }
            }
            case QuotaDecision.Refused refused -> {
                LOG.info("{}: {}", member.session(), refused.reason());
                answer(member, refused.leaseBytes());
            }
            case QuotaDecision.Trim trim -> trim(Group.of(member), trim.clients(), ledger);
        }
    }

    private void apply(Group group, LimitChange change, QuotaLedger asker) {
        for (DeviceClient member : groups.get(group)) {
            Long lease = change.leases().get(member.clientId());
            if (lease != null) {
                answer(member, lease);
            }
        }
        trim(group, change.trim(), asker);
    }

    /** Trims clients: for the tenant's ledger those of the tenant, for the pool those of all tenants. */
    private void trim(Group group, List<Long> clientIds, QuotaLedger asker) {
        for (long clientId : clientIds) {
            trim(member(clientId, group.device()), asker);
        }
    }

    private void trim(DeviceClient member, QuotaLedger asker) {
        if (member != null) {
            trims.computeIfAbsent(member, m -> new ArrayDeque<>()).add(asker);
            member.session().trimQuota(member.slot());
        }
    }

    private void answer(DeviceClient member) {
        answer(member, ledger.leaseBytes(member.clientId(), Group.of(member).device()));
    }

    /** Returns the part of a tenant's lease that the device and the host can hold. */
    private long bounded(DeviceClient member, long leaseBytes) {
        return SwapPool.governs(member) ? Math.min(leaseBytes, pool.leaseBytes(member)) : leaseBytes;
    }

    private void answer(DeviceClient member, long leaseBytes) {
        wanted.remove(member);
        long lease = bounded(member, leaseBytes);
        member.session().answerQuota(member.slot(),
                lease == QuotaDecision.UNLIMITED ? DeviceBlock.NO_LIMIT_LEASE : lease);
    }

    /** Writes into every segment the bytes that the tenant's other clients use. */
    void refreshUse() {
        groups.values().forEach(Leases::refreshUse);
    }

    private static void refreshUse(List<DeviceClient> members) {
        long[] used = new long[members.size()];
        long total = 0;
        for (int i = 0; i < used.length; i++) {
            used[i] = bytesInUse(members.get(i));
            total += used[i];
        }
        for (int i = 0; i < used.length; i++) {
            long elsewhere = total - used[i];
            members.get(i).touch(block -> block.tenantElsewhereBytes(elsewhere));
        }
    }
}
