package io.tessera.manager.conductor;

import io.tessera.protocol.DeviceBlock;
import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tenants' memory limits as clients meet them: carries asks to the ledger and answers back, asks the others of a
 * tenant to give back first where the limit is used up, and writes what the tenant uses elsewhere (SPEC.md, section 5).
 * One owner thread.
 *
 * <p>A tenant is a label of one user: equal labels of two users are two tenants. The last client of a tenant that names
 * a limit sets it for all.
 */
public final class Leases {
    /** Longest wait for others to give back; the asking client waits 2 s (SPEC.md, section 5). */
    static final long TRIM_WAIT_NS = 1_000_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(Leases.class);

    private final LeaseLedger ledger;
    private final Map<Group, List<DeviceMember>> groups = new LinkedHashMap<>();
    private final Map<Group, Long> limits = new LinkedHashMap<>();
    private final List<Asked> pending = new ArrayList<>();

    /** A tenant on a device. */
    private record Group(String tenant, DeviceUuid device) {
        static Group of(DeviceMember member) {
            return new Group(Integer.toUnsignedString(member.session().peer().uid()) + ":"
                    + member.session().hello().tenant(), member.announcement().uuid());
        }
    }

    /** An ask that waits for others to give back. */
    private record Asked(DeviceMember member, long needBytes, long deadlineNs, Set<Long> waitsFor) {
    }

    /** No tenants yet. */
    public Leases(LeaseLedger ledger) {
        this.ledger = ledger;
    }

    void joined(DeviceMember member) {
        Group group = Group.of(member);
        groups.computeIfAbsent(group, g -> new ArrayList<>()).add(member);
        ledger.join(group.tenant, group.device.toString(), member.clientId());
        long asked = member.session().hello().limitBytes();
        if (asked != 0) {
            // Above 2^63 - 1 there is no device; the client may as well have that many.
            long limit = asked < 0 ? Long.MAX_VALUE : asked;
            Long before = limits.put(group, limit);
            if (before != null && before != limit) {
                LOG.info("tenant {} on {}: limit {} bytes instead of {}", group.tenant, group.device, limit, before);
            }
            ledger.limit(group.tenant, group.device.toString(), limit);
        }
        long limit = limits.getOrDefault(group, 0L);
        groups.get(group).forEach(other -> other.touch(block -> block.limitBytes(limit)));
        refreshUse(groups.get(group));
    }

    void left(DeviceMember member, long nowNs) {
        Group group = Group.of(member);
        List<DeviceMember> members = groups.get(group);
        members.remove(member);
        ledger.leave(group.device.toString(), member.clientId());
        pending.removeIf(asked -> asked.member == member);
        if (members.isEmpty()) {
            groups.remove(group);
            limits.remove(group);
            return;
        }
        refreshUse(members);
        retry(group, member.clientId(), nowNs);
    }

    void asked(DeviceMember member, long needBytes, long nowNs) {
        Group group = Group.of(member);
        refreshUse(groups.get(group));
        if (!limits.containsKey(group)) {
            member.session().answerQuota(member.slot(), DeviceBlock.NO_LIMIT_LEASE);
            return;
        }
        pending.removeIf(asked -> asked.member == member);
        boolean possible = needBytes >= 0 && needBytes <= limits.get(group);
        if (possible && !ledger.ask(group.device.toString(), member.clientId(), needBytes)) {
            Set<Long> others = new HashSet<>();
            for (DeviceMember other : groups.get(group)) {
                if (other != member && ledger.leaseBytes(group.device.toString(), other.clientId()) > 0) {
                    others.add(other.clientId());
                    other.session().trimQuota(other.slot());
                }
            }
            if (!others.isEmpty()) {
                pending.add(new Asked(member, needBytes, nowNs + TRIM_WAIT_NS, others));
                return;
            }
        }
        answer(member);
    }

    private void answer(DeviceMember member) {
        member.session().answerQuota(member.slot(),
                ledger.leaseBytes(member.announcement().uuid().toString(), member.clientId()));
    }

    void returned(DeviceMember member, long grantedBytes, long nowNs) {
        Group group = Group.of(member);
        if (!limits.containsKey(group)) {
            return; // nothing was lent
        }
        long lease = ledger.leaseBytes(group.device.toString(), member.clientId());
        if (grantedBytes < 0 || grantedBytes > lease) {
            member.session().fault("it gave back to " + Long.toUnsignedString(grantedBytes)
                    + " bytes with a lease of " + lease);
            return;
        }
        ledger.returned(group.device.toString(), member.clientId(), grantedBytes);
        refreshUse(groups.get(group));
        retry(group, member.clientId(), nowNs);
    }

    /** Somebody gave back or left: asks of the same tenant may go through now, or have nobody left to wait for. */
    private void retry(Group group, long gaveBack, long nowNs) {
        Iterator<Asked> asks = pending.iterator();
        while (asks.hasNext()) {
            Asked asked = asks.next();
            if (!Group.of(asked.member).equals(group)) {
                continue;
            }
            asked.waitsFor.remove(gaveBack);
            boolean raised = ledger.ask(group.device.toString(), asked.member.clientId(), asked.needBytes);
            if (raised || asked.waitsFor.isEmpty() || asked.deadlineNs <= nowNs) {
                asks.remove();
                answer(asked.member);
            }
        }
    }

    /** Answers asks whose time is over with the lease as it is. */
    int doWork(long nowNs) {
        int work = 0;
        Iterator<Asked> asks = pending.iterator();
        while (asks.hasNext()) {
            Asked asked = asks.next();
            if (asked.deadlineNs <= nowNs) {
                asks.remove();
                answer(asked.member);
                work++;
            }
        }
        return work;
    }

    long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (Asked asked : pending) {
            next = Math.min(next, asked.deadlineNs);
        }
        return next;
    }

    /** Writes into every segment what the tenant's other clients use. */
    void refreshUse() {
        groups.values().forEach(Leases::refreshUse);
    }

    private static void refreshUse(List<DeviceMember> members) {
        long[] used = new long[members.size()];
        long total = 0;
        for (int i = 0; i < used.length; i++) {
            int index = i;
            members.get(i).touch(block -> used[index] = Math.clamp(block.usedBytes(), 0, Long.MAX_VALUE >>> 20));
            total += used[i];
        }
        for (int i = 0; i < used.length; i++) {
            long elsewhere = total - used[i];
            members.get(i).touch(block -> block.tenantElsewhereBytes(elsewhere));
        }
    }
}
