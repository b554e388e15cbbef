package io.tessera.manager.residency;

import io.tessera.memory.residency.DeviceRoom;
import io.tessera.protocol.MemoryPlan;
import java.util.Collection;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles the believed memory of a device with what its clients' drivers report and refuse (SPEC.md, section 9.9). One owner thread.
 */
final class UsableMemory {
    /** Held memory must have been unchanged for this long before a report of free memory is compared with it: words arrive late. */
    private static final long SETTLED_NS = 500_000_000L;

    private static final double GIB = 1L << 30;
    private static final Logger LOG = LoggerFactory.getLogger(UsableMemory.class);

    private final Object name;
    private final DeviceRoom room;
    private long heldMark;
    private long changedNs;
    private long sampleNs;

    UsableMemory(Object name, long totalBytes, long nowNs) {
        this.name = name;
        room = new DeviceRoom(totalBytes);
        changedNs = nowNs;
    }

    DeviceRoom room() {
        return room;
    }

    /**
     * Takes new facts into account.
     *
     * @param members       all clients on the device, just read
     * @param executorBytes bytes that executors hold of it
     * @param readAgain     reads all clients' words again: after a refusal, the memory held from then on counts
     */
    void reconcile(Collection<ClientDeviceMemory> members, long executorBytes, Runnable readAgain, long nowNs) {
        boolean refused = false;
        long refusedFreeBytes = 0;
        for (ClientDeviceMemory member : members) {
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
        for (ClientDeviceMemory member : members) {
            heldBytes += member.residentBytes + member.fixedBytes - member.claimedBytes;
            mark = 31 * (31 * mark + member.residentBytes) + member.fixedBytes - member.claimedBytes;
            // No client reports memory that the driver pages, or that the driver takes off the device with a process.
            telling &= member.plan != MemoryPlan.MANAGED && member.overflowBytes == 0 && member.checkpointed == member.onHost;
        }
        if (refused) {
            long beforeBytes = room.roomBytes(Long.MAX_VALUE);
            room.refused(heldBytes, refusedFreeBytes, nowNs);
            say(beforeBytes, String.format(Locale.ROOT, "the driver refused more beside %.2f GiB that are held", heldBytes / GIB));
        }
        if (mark != heldMark) {
            heldMark = mark;
            changedNs = nowNs;
        }
        if (telling) {
            sample(members, heldBytes, nowNs);
        }
    }

    private void sample(Collection<ClientDeviceMemory> members, long heldBytes, long nowNs) {
        for (ClientDeviceMemory member : members) {
            if (member.driverFreeNs > sampleNs && member.driverFreeNs <= nowNs && member.driverFreeNs - changedNs >= SETTLED_NS) {
                sampleNs = member.driverFreeNs;
                long beforeBytes = room.roomBytes(Long.MAX_VALUE);
                room.sampled(heldBytes, member.driverFreeBytes, nowNs);
                say(beforeBytes, String.format(Locale.ROOT, "%.2f GiB are free beside %.2f that are held",
                        member.driverFreeBytes / GIB, heldBytes / GIB));
            }
        }
    }

    private void say(long beforeBytes, String why) {
        long bytes = room.roomBytes(Long.MAX_VALUE);
        if (bytes != beforeBytes) {
            LOG.debug("{}: clients can have {} of it together: {}", name, String.format(Locale.ROOT, "%.2f GiB", bytes / GIB), why);
        }
    }
}
