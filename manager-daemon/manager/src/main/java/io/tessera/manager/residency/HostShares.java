package io.tessera.manager.residency;

import io.tessera.memory.residency.HostBackingBudget;
import io.tessera.memory.residency.HostClient;
import io.tessera.memory.residency.HostTargets;
import io.tessera.os.memory.ControlGroupMemory;
import io.tessera.os.memory.HostMemorySource;
import io.tessera.protocol.segment.SegmentLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Divides the host's memory among clients as backing for what is off the devices. One owner thread. */
final class HostShares {
    /** Interval at which the host's free memory is read; between readings it counts as the last value, less what was given. */
    private static final long LOOK_NS = 250_000_000L;

    /**
     * Clients take backing in steps of at most 256 MiB, or a sixteenth of what they may have, and give a step back when it is empty. While one
     * client's memory comes in and another's leaves, each may have a partly used step.
     */
    private static final long STEP_BYTES = 256L << 20;
    private static final int SMALL_PARTS = 16;
    private static final long UNIT_BYTES = 2L << 20;

    private final HostMemorySource host;
    private final HostBackingBudget budget;
    private final GroupRooms groups = new GroupRooms(ControlGroupMemory::of);
    private long availableBytes;
    private long nextLookNs = Long.MIN_VALUE;
    private String reason = "";

    HostShares(HostMemorySource host, ResidencySettings settings) {
        this.host = host;
        HostBackingBudget sane = HostBackingBudget.forHost(host.totalBytes());
        this.budget = new HostBackingBudget(given(settings.pinnedBytes(), sane.pinnedBytes()),
                given(settings.pageableBytes(), sane.pageableBytes()), Long.MAX_VALUE, sane.reserveBytes());
    }

    private static long given(long set, long otherwise) {
        return set == ResidencySettings.BY_MACHINE ? otherwise : set;
    }

    /** Writes targets; returns how many are new. */
    int share(Collection<ClientDeviceMemory> members, long nowNs) {
        if (members.isEmpty()) {
            return 0;
        }
        boolean fresh = look(nowNs);
        groups.begin(members.stream().map(HostShares::holder).toList(), fresh);
        long wanted = members.stream().mapToLong(member -> member.pinnedWanted).sum();
        long spare = budget.pinnedBytes() - members.stream().mapToLong(ClientDeviceMemory::outBytes).sum();
        boolean isShort = wanted > budget.pinnedBytes();
        List<HostClient> clients = new ArrayList<>();
        Map<Long, ClientDeviceMemory> byId = new HashMap<>();
        for (ClientDeviceMemory member : members) {
            long id = member.clientId() * SegmentLayout.MAX_DEVICES + member.member.slot();
            byId.put(id, member);
            long pinned = isShort ? shortOfPinned(member.pinnedWanted, member.outBytes(), spare, stepBytes()) : member.pinnedWanted;
            long pageable = isShort ? besidePinned(member.pageableWanted, member.outBytes(), Math.min(pinned, member.pinnedTarget), stepBytes())
                    : member.pageableWanted;
            long both = groups.grant(holder(member), pinned + pageable);
            pinned = pinnedWithin(both, pinned, pageable, member.pinnedHeld, member.pageableHeld);
            pageable = Math.min(pageable, both - pinned);
            clients.add(new HostClient(id, member.account(), member.pinnedHeld, member.pinnedTarget, pinned,
                    member.pageableHeld, member.pageableTarget, pageable));
        }
        HostTargets targets = budget.targets(clients, availableBytes);
        reason = targets.reason();
        int told = 0;
        for (Map.Entry<Long, ClientDeviceMemory> entry : byId.entrySet()) {
            long id = entry.getKey();
            if (entry.getValue().tellHost(targets.pinned().get(id), targets.pageable().get(id))) {
                entry.getValue().ring();
                told++;
            }
        }
        return told;
    }

    /**
     * Returns what the host can hold of the clients' memory: the backing that they hold and the free memory, within the budgets, and files; less what
     * partly used steps may waste.
     */
    long backingBytes(Collection<ClientDeviceMemory> members) {
        long held = 0;
        long files = 0;
        for (ClientDeviceMemory member : members) {
            held += member.pinnedHeld + member.pageableHeld;
            files += member.fileLimit;
        }
        long free = Math.max(0, availableBytes - budget.reserveBytes());
        long all = Math.min(budget.pinnedBytes() + budget.pageableBytes(), held + free) + files;
        return Math.max(0, all - stepBytes() * members.size());
    }

    /** Returns the largest step that a client can take within the budgets. */
    private long stepBytes() {
        long part = Math.max(budget.pinnedBytes(), budget.pageableBytes()) / SMALL_PARTS;
        return Math.min(STEP_BYTES, (part + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES);
    }

    /**
     * Returns the pinned memory for a client if not all clients can have all they want. A client gets backing for the part of its memory that is off the
     * device or has to leave, so that no move waits for backing that another client does not need yet. The rest goes to the clients whose memory leaves
     * next. Memory leaves in whole chunks, so a client gets one step more than it has to move out. Otherwise a client that has to give up a part of a
     * chunk would have no place for the chunk.
     */
    static long shortOfPinned(long wantedBytes, long outBytes, long spareBytes, long stepBytes) {
        return Math.min(wantedBytes, outBytes > 0 ? outBytes + stepBytes : Math.max(0, spareBytes));
    }

    /**
     * Returns the pageable memory for a client if not all clients can have all of theirs pinned: for the part of its memory that is off the device, or has
     * to leave, beyond its pinned memory.
     */
    static long besidePinned(long wantedBytes, long outBytes, long pinnedBytes, long stepBytes) {
        return outBytes > 0 ? Math.min(wantedBytes, Math.max(0, outBytes + stepBytes - pinnedBytes)) : 0;
    }

    /**
     * Returns the pinned memory that a client may ask for if its control group grants it {@code grantedBytes} of pinned and pageable memory together.
     * A group that grants all changes nothing. The pageable memory asked for depends on the pinned memory granted before, so any change here would
     * lead to another one in the next cycle, without end.
     */
    static long pinnedWithin(long grantedBytes, long pinnedBytes, long pageableBytes, long pinnedHeld, long pageableHeld) {
        return grantedBytes >= pinnedBytes + pageableBytes ? pinnedBytes
                : Math.min(pinnedBytes, Math.max(grantedBytes - pageableHeld, Math.min(grantedBytes, pinnedHeld)));
    }

    private static GroupRooms.Holder holder(ClientDeviceMemory member) {
        return new GroupRooms.Holder(member.member.session().peer().pid(), member.pinnedHeld + member.pageableHeld);
    }

    /** Reads the host's memory if it is time; returns whether it did. */
    private boolean look(long nowNs) {
        if (nowNs < nextLookNs) {
            return false;
        }
        availableBytes = host.availableBytes();
        nextLookNs = nowNs + LOOK_NS;
        return true;
    }

    /** Returns the host memory that may still be taken for purposes other than clients' backing. */
    long roomBytes(long nowNs) {
        look(nowNs);
        return availableBytes - budget.reserveBytes();
    }

    long availableBytes() {
        return availableBytes;
    }

    HostBackingBudget budget() {
        return budget;
    }

    /** Returns the state of the host's memory, in one sentence. */
    String reason() {
        return reason;
    }
}
