package io.tessera.manager.residency;

import io.tessera.memory.residency.DeviceRoom;
import io.tessera.protocol.MemoryPlan;
import java.util.Collection;

/**
 * Reconciles what is believed of a device with what its clients' drivers say and refuse (SPEC.md, section 9.9). One owner
 * thread.
 */
final class UsableMemory {
    /** A word may be this much older than what it tells of. */
    private static final long SETTLED_NS = 500_000_000L;

    private final DeviceRoom room;
    private long heldMark;
    private long changedNs;
    private long sampleNs;

    UsableMemory(long totalBytes, long nowNs) {
        room = new DeviceRoom(totalBytes);
        changedNs = nowNs;
    }

    DeviceRoom room() {
        return room;
    }

    /**
     * Takes in what is new.
     *
     * @param members       everybody on the device, read just now
     * @param executorBytes what executors hold of it
     * @param readAgain     reads everybody's words: what is held counts as it is after a refusal
     */
    void reconcile(Collection<MemberMemory> members, long executorBytes, Runnable readAgain, long nowNs) {
        boolean refused = false;
        long refusedFreeBytes = 0;
        for (MemberMemory member : members) {
            if (member.takeRefused()) {
                refused = true;
                refusedFreeBytes = Math.max(refusedFreeBytes, member.refusedFreeBytes);
            }
        }
        if (refused) {
            readAgain.run();
        }
        long heldBytes = executorBytes;
        long mark = 31 * executorBytes + members.size();
        boolean telling = true;
        for (MemberMemory member : members) {
            heldBytes += member.residentBytes + member.fixedBytes;
            mark = 31 * (31 * mark + member.residentBytes) + member.fixedBytes;
            // What the driver pages, or takes off the device with a process, nobody tells.
            telling &= member.plan != MemoryPlan.MANAGED && member.overflowBytes == 0 && member.checkpointed == member.onHost;
        }
        if (refused) {
            room.refused(heldBytes, refusedFreeBytes, nowNs);
        }
        if (mark != heldMark) {
            heldMark = mark;
            changedNs = nowNs;
        }
        if (telling) {
            sample(members, heldBytes, nowNs);
        }
    }

    private void sample(Collection<MemberMemory> members, long heldBytes, long nowNs) {
        for (MemberMemory member : members) {
            if (member.driverFreeNs > sampleNs && member.driverFreeNs <= nowNs && member.driverFreeNs - changedNs >= SETTLED_NS) {
                sampleNs = member.driverFreeNs;
                room.sampled(heldBytes, member.driverFreeBytes, nowNs);
            }
        }
    }
}
