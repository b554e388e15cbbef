package io.tessera.manager.residency;

import io.tessera.memory.residency.HostBudget;
import io.tessera.memory.residency.HostClient;
import io.tessera.memory.residency.HostTargets;
import io.tessera.protocol.SegmentLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Shares the host's memory out among clients as backing for what is off the devices. One owner thread. */
final class HostShares {
    /** How often the host's free memory is looked at; between looks it is taken for what it was, less what was given. */
    private static final long LOOK_NS = 250_000_000L;

    private final HostMemory host;
    private final HostBudget budget;
    private long availableBytes;
    private long nextLookNs = Long.MIN_VALUE;
    private String reason = "";

    HostShares(HostMemory host, ResidencySettings settings) {
        this.host = host;
        HostBudget sane = HostBudget.forHost(host.totalBytes());
        this.budget = new HostBudget(given(settings.pinnedBytes(), sane.pinnedBytes()),
                given(settings.pageableBytes(), sane.pageableBytes()), Long.MAX_VALUE, sane.reserveBytes());
    }

    private static long given(long set, long otherwise) {
        return set == ResidencySettings.BY_MACHINE ? otherwise : set;
    }

    /** Writes targets; returns how many are new. */
    int share(Collection<MemberMemory> members, long nowNs) {
        if (members.isEmpty()) {
            return 0;
        }
        look(nowNs);
        List<HostClient> clients = new ArrayList<>();
        Map<Long, MemberMemory> byId = new HashMap<>();
        for (MemberMemory member : members) {
            long id = member.clientId() * SegmentLayout.MAX_DEVICES + member.member.slot();
            byId.put(id, member);
            clients.add(new HostClient(id, member.account(), member.pinnedHeld, member.pinnedTarget,
                    member.pinnedWanted, member.pageableHeld, member.pageableTarget, member.pageableWanted));
        }
        HostTargets targets = budget.targets(clients, availableBytes);
        reason = targets.reason();
        int told = 0;
        for (Map.Entry<Long, MemberMemory> entry : byId.entrySet()) {
            long id = entry.getKey();
            if (entry.getValue().tellHost(targets.pinned().get(id), targets.pageable().get(id))) {
                entry.getValue().ring();
                told++;
            }
        }
        return told;
    }

    /** What the host can hold of the clients' memory: within the budgets, what they hold and what is free; and files. */
    long backingBytes(Collection<MemberMemory> members) {
        long held = 0;
        long files = 0;
        for (MemberMemory member : members) {
            held += member.pinnedHeld + member.pageableHeld;
            files += member.fileLimit;
        }
        long free = Math.max(0, availableBytes - budget.reserveBytes());
        return Math.min(budget.pinnedBytes() + budget.pageableBytes(), held + free) + files;
    }

    private void look(long nowNs) {
        if (nowNs >= nextLookNs) {
            availableBytes = host.availableBytes();
            nextLookNs = nowNs + LOOK_NS;
        }
    }

    long availableBytes() {
        return availableBytes;
    }

    HostBudget budget() {
        return budget;
    }

    /** How the host stands, in one sentence. */
    String reason() {
        return reason;
    }
}
