package io.tessera.manager.residency;

import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.Leases;
import io.tessera.manager.schedule.turn.ClientOutlook;
import io.tessera.memory.residency.ClientMemoryState;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ResidencyBlock;
import io.tessera.protocol.segment.ResidencyState;
import io.tessera.protocol.segment.ThreadSlot;

/**
 * One client on one device: its words as last read, and its orders. One owner thread.
 *
 * <p>The client writes its words and may claim anything, so each is clamped to what a device can have. Memory of plan managed has no words of its own,
 * because the driver moves it. So the client's allowance counts as resident, and as memory that can be dropped at once.
 */
final class ClientDeviceMemory {
    /** Time within which a client must have submitted, allocated or waited to count as active; the scheduler has the same rule. */
    static final long ACTIVE_NS = 1_000_000_000L;

    /** Time of an event that has not happened. */
    static final long NEVER = Long.MIN_VALUE;

    final DeviceClient member;
    final MemoryPlan plan;

    long residentBytes;
    long neededBytes;
    long swappableBytes;
    long fixedBytes;
    /** The part of {@link #fixedBytes} that is needed, but not available yet. */
    long claimedBytes;
    long cachedBytes;
    long wantedBytes;
    long guaranteeBytes;
    long usedBytes;

    /** Memory under plan auto that the device could not hold beside the rest, so that the driver moves it page by page. */
    long overflowBytes;
    long pinnedHeld;
    long pageableHeld;
    long pinnedWanted;
    long pageableWanted;
    long fileLimit;
    long fileHeld;
    long swappedBytes;

    /** The part of {@link #neededBytes} that is known to be zero, so that it need not be copied. */
    long zeroBytes;

    /** Contents on the device of which the host has a copy. */
    long cleanBytes;

    /** Its last target. */
    long targetBytes;
    long pinnedTarget;
    long pageableTarget;
    boolean told;
    private long limitTold;

    /** Whether it was evicted by hand or for idleness: logged, and set in its word. */
    boolean evicted;

    /** Whether it was evicted by hand and is not out yet: it leaves before it may come back. */
    boolean leaving;
    long leavingSinceNs;

    /** The bytes that it is to hold on the device once all plans are carried out. */
    long goalBytes;

    /** Whether it is kept off the device, evicted or not. */
    boolean parked;

    /** Whether it wants to come back, and waits because the running clients leave it no room. */
    boolean heldBack;

    /** Time since which it has wanted to come back. */
    long comingSinceNs = NEVER;

    /** Whether the driver takes its whole process off the device, or has done so: none of its driver calls returns. */
    boolean checkpointed;

    /** Whether its memory, of all kinds, is in the driver's checkpoint and not on the device. */
    boolean onHost;

    /** Whether the driver brings it back. */
    boolean restoring;

    /** The part of its movable memory that comes back when it is restored; valid while {@link #onHost}. */
    long frozenBytes;

    /** How it is suspended and why, in a sentence; empty if it is not suspended. */
    String suspension = "";

    /** Why it was not suspended at the last attempt, in a sentence; empty if it was, or if there was no attempt. */
    String notSuspended = "";

    /** Number of times that the driver had no memory for it, and what the driver then reported as free. */
    long refusals;
    long refusedFreeBytes;
    private long refusalsTaken = -1;

    /** What its driver last reported as free, and when. */
    long driverFreeBytes;
    long driverFreeNs;

    /** The count of moved chunks, and the time, at which some of its memory was last seen to come in, leave, or be given up. */
    private long settledChunks = -1;
    long settledNs = NEVER;

    /** Time at which its target was last written. */
    private long targetNs;

    /** Time until which the plan does not count on memory that it owes and cannot give up. */
    private long stuckUntilNs = NEVER;

    /** Time since which it may run and waits for memory, and whether that was logged. */
    long standingSinceNs = NEVER;
    boolean standingSaid;

    /** Whether the present turn has failed, and the number of failed turns since its gate was open. */
    boolean turnFailed;
    int failedTurns;

    /** Why its need cannot be met, in a sentence; empty if it can, as far as is known. */
    String shortOf = "";

    /** Whether a signal had stopped its process when that was last read. */
    private boolean stopped;
    private long stoppedReadNs = NEVER;

    /** Since when it waits for more memory than the device can have for it; NEVER: it does not. */
    long impossibleSinceNs = NEVER;

    /** A stopped client whose memory it is short of; null: that is not why. */
    ClientDeviceMemory shortOfStopped;

    /** Time at which no client could give memory up for it; {@link #NEVER}: the device does not have that much at all. */
    long shortSinceNs = NEVER;

    long lastActiveNs;
    private long idleMarkNs = NEVER;
    long submissions = -1;
    private long allocationBytes;
    private final MoveMeter.Seen inbound = new MoveMeter.Seen();
    private final MoveMeter.Seen outbound = new MoveMeter.Seen();
    private boolean moved;
    private boolean released;

    ClientDeviceMemory(DeviceClient member, long nowNs) {
        this.member = member;
        this.plan = member.session().hello().plan();
        this.lastActiveNs = nowNs;
        this.targetNs = nowNs;
    }

    /** Returns whether the driver has refused it memory since the last call. */
    boolean takeRefused() {
        boolean fresh = refusalsTaken >= 0 && refusals != refusalsTaken;
        refusalsTaken = refusals;
        return fresh;
    }

    /** Returns whether it has to give memory up, and none has moved for this long. */
    boolean owesFor(long ns, long nowNs) {
        return movable() && residentBytes > targetBytes && nowNs - Math.max(settledNs, targetNs) >= ns;
    }

    /** Returns whether a signal has stopped its process, as read within the last {@link DeviceResidency#LOOK_NS}: a file for each of its threads. */
    boolean isStopped(long nowNs) {
        if (stoppedReadNs == NEVER || nowNs - stoppedReadNs >= DeviceResidency.LOOK_NS) {
            stoppedReadNs = nowNs;
            stopped = member.session().isStopped();
        }
        return stopped;
    }

    /** Records that it cannot give memory up: plans do not count on that memory until this time, or until some of it moves. */
    void stuckUntil(long untilNs) {
        stuckUntilNs = untilNs;
    }

    boolean stuckAt(long nowNs) {
        return nowNs < stuckUntilNs && residentBytes > targetBytes; // otherwise it owes nothing, and its target counts
    }

    /** Returns whether its memory can leave the device. */
    boolean movable() {
        return plan == MemoryPlan.SWAP;
    }

    /** Returns whether targets are written for it. */
    boolean planned() {
        return member.residencyPlanned();
    }

    /** Returns the part of its memory that is off the device, or is to leave it. */
    long outBytes() {
        return Math.max(swappedBytes, Math.min(contentBytes(), neededBytes - Math.min(neededBytes, goalBytes)));
    }

    /** Returns the part of its memory that needs no room on the host when it leaves: zero memory, except for what it may write until then. */
    long hostlessBytes() {
        return Math.max(0, neededBytes - Math.max(contentBytes(), pinnedWanted));
    }

    /** Returns the part of its memory that has to be copied if all of it leaves or comes back. */
    long contentBytes() {
        return neededBytes - zeroBytes;
    }

    long clientId() {
        return member.clientId();
    }

    boolean waits() {
        return member.waitsSinceNs() != 0 || wantedBytes > targetBytes;
    }

    boolean activeAt(long nowNs) {
        return nowNs - lastActiveNs < ACTIVE_NS && lastActiveNs != idleMarkNs;
    }

    /** Makes it count as idle until it works again. */
    void countAsIdle() {
        idleMarkNs = lastActiveNs;
    }

    /** Returns whether what it holds has changed since the last call. */
    boolean takeMoved() {
        boolean was = moved;
        moved = false;
        return was;
    }

    /** Returns whether it has given its turn back since the last call. */
    boolean takeReleased() {
        boolean now = member.isReleased();
        boolean fresh = now && !released;
        released = now;
        return fresh;
    }

    /**
     * Reads every word.
     *
     * @param totalBytes bound of the client's claims
     * @param look       whether to read its submissions, which takes a sum over all of its threads
     */
    void read(long totalBytes, boolean look, long nowNs) {
        member.touch(block -> {
            readUse(block, totalBytes, look || submissions < 0, nowNs);
            if (plan == MemoryPlan.SWAP) {
                overflowBytes = size(block.managedBytes(), 1024 * totalBytes);
                readSwap(member.residency(), totalBytes, nowNs);
            } else if (plan == MemoryPlan.MANAGED) {
                long managedBytes = size(block.managedBytes(), 1024 * totalBytes); // may exceed the device
                neededBytes = Math.min(managedBytes, totalBytes);
                residentBytes = Math.min(targetBytes, neededBytes);
                cachedBytes = residentBytes;
                fixedBytes = Math.max(0, usedBytes - managedBytes);
            } else {
                fixedBytes = usedBytes;
            }
        });
        if (onHost) {
            frozenBytes = movable() ? residentBytes : 0;
            residentBytes = 0;
            cachedBytes = 0;
            fixedBytes = 0;
            claimedBytes = 0;
        }
        if (waits()) {
            lastActiveNs = nowNs;
        }
    }

    private void readUse(DeviceBlock block, long totalBytes, boolean look, long nowNs) {
        // Oversubscribed clients use more than the device has; several times that is nonsense.
        usedBytes = size(block.usedBytes(), 1024 * totalBytes);
        long submitted = look ? ThreadSlot.deviceSubmissions(member.session().memory(), member.slot()) : submissions;
        if (submitted != submissions || block.capturing() != 0 || usedBytes != allocationBytes) {
            submissions = submitted;
            allocationBytes = usedBytes;
            lastActiveNs = nowNs;
        }
    }

    private void readSwap(ResidencyBlock words, long totalBytes, long nowNs) {
        readDriver(words, totalBytes, nowNs);
        residentBytes = size(words.residentBytes(), totalBytes);
        long needed = size(words.neededBytes(), 1024 * totalBytes);
        if (needed != neededBytes) {
            lastActiveNs = nowNs;
        }
        neededBytes = needed;
        swappableBytes = size(words.swappableBytes(), 1024 * totalBytes);
        claimedBytes = size(words.claimedBytes(), totalBytes);
        fixedBytes = size(words.fixedBytes(), totalBytes) + claimedBytes;
        cachedBytes = Math.min(size(words.cachedBytes(), totalBytes), residentBytes);
        wantedBytes = size(words.residentWanted(), 1024 * totalBytes);
        guaranteeBytes = size(words.guaranteeWanted(), totalBytes);
        pinnedHeld = size(words.pinnedHeld(), ClientMemoryState.MAX_BYTES);
        pageableHeld = size(words.pageableHeld(), ClientMemoryState.MAX_BYTES);
        pinnedWanted = size(words.pinnedWanted(), ClientMemoryState.MAX_BYTES);
        pageableWanted = size(words.pageableWanted(), ClientMemoryState.MAX_BYTES);
        fileHeld = size(words.fileHeld(), ClientMemoryState.MAX_BYTES);
        swappedBytes = size(words.swappedBytes(), 1024 * totalBytes);
        zeroBytes = size(words.zeroBytes(), neededBytes);
        cleanBytes = size(words.cleanBytes(), neededBytes);
        long files = words.fileLimit(); // the largest unsigned number: only the file system sets a bound
        fileLimit = files < 0 ? ClientMemoryState.MAX_BYTES : size(files, ClientMemoryState.MAX_BYTES);
    }

    /** Reads the refusals first: what the client holds is read after them. */
    private void readDriver(ResidencyBlock words, long totalBytes, long nowNs) {
        refusals = words.refusals();
        refusedFreeBytes = size(words.refusedFree(), totalBytes);
        long saidNs = words.driverFreeNs();
        long free = size(words.driverFree(), totalBytes);
        if (saidNs != 0 && words.driverFreeNs() == saidNs) {
            driverFreeNs = saidNs;
            driverFreeBytes = free;
        }
        long settled = words.settledChunks();
        if (settled != settledChunks && settledChunks >= 0) {
            moved = true;
            settledNs = nowNs;
            stuckUntilNs = NEVER;
        }
        settledChunks = settled;
    }

    /** Measures its moves since the last call. */
    void measure(MoveMeter meter) {
        member.touch(block -> {
            ResidencyBlock words = member.residency();
            if (words.state() != ResidencyState.STEADY) {
                return;
            }
            meter.in(inbound, words.movedInBytes(), words.clearedBytes(), words.moveInNs());
            meter.out(outbound, words.movedOutBytes(), words.sparedBytes(), words.moveOutNs());
        });
    }

    private static long size(long claimed, long most) {
        return Math.clamp(claimed, 0, most);
    }

    /** Returns its state for the planner. With turns, the granted client runs; without, the clients that are active, or wait for their memory. */
    ClientMemoryState toPlan(ClientOutlook outlook, boolean exclusive, long capacityBytes, long nowNs) {
        boolean atWork = exclusive || activeAt(nowNs) || !member.isOpen();
        boolean running = planned() && outlook.running() && atWork;
        // Memory that the driver pages may stay away, so no client is refused for it; it is on the device as far as targets leave room.
        long pagedBytes = Math.min(overflowBytes, Math.max(0, targetBytes - residentBytes));
        long mostBytes = plan == MemoryPlan.MANAGED ? Math.min(neededBytes, capacityBytes)
                : onHost ? Math.max(neededBytes, frozenBytes)
                : Math.max(neededBytes, Math.min(neededBytes + overflowBytes, capacityBytes - fixedBytes));
        long nextNs = running || outlook.nextTurnNs() == Long.MAX_VALUE || outlook.running() ? ClientMemoryState.UNKNOWN
                : outlook.nextTurnNs();
        if (stuckAt(nowNs) && !running) {
            return new ClientMemoryState(clientId(), tenant(), cachedBytes, Math.min(targetBytes, cachedBytes), 0, cachedBytes,
                    fixedBytes + residentBytes - cachedBytes, 0, 0, true, false, ClientMemoryState.UNKNOWN, nowNs, false);
        }
        return new ClientMemoryState(clientId(), tenant(), Math.min(residentBytes + pagedBytes, ClientMemoryState.MAX_BYTES),
                targetBytes, planned() ? mostBytes : 0, planned() ? cachedBytes + pagedBytes : 0, fixedBytes, wantedBytes, guaranteeBytes,
                outlook.quiet() || !movable(), evicted, running ? nowNs : nextNs,
                Math.max(outlook.lastTurnEndedNs(), lastActiveNs), running);
    }

    int uid() {
        return member.session().peer().uid();
    }

    String tenant() {
        return member.session().hello().tenant();
    }

    /** Returns the name of its tenant among those of all users. */
    String account() {
        return Leases.tenantOf(member);
    }

    /**
     * Writes its target on the device; returns whether the target is new.
     *
     * @param limitBytes    largest value that the target can have
     * @param capacityBytes size that the client shows for the device; 0: the device's own
     */
    boolean tellTarget(long bytes, long limitBytes, long capacityBytes, long nowNs) {
        if (told && bytes == targetBytes && limitBytes == limitTold) {
            return false;
        }
        limitTold = limitBytes;
        if (bytes != targetBytes) {
            targetNs = nowNs;
        }
        targetBytes = bytes;
        member.touch(block -> {
            ResidencyBlock words = member.residency();
            words.capacityBytes(capacityBytes);
            words.guaranteeBytes(guaranteeBytes);
            words.residentLimit(limitBytes);
            words.residentTarget(bytes);
        });
        told = true;
        return true;
    }

    /** Writes its targets on the host; returns whether they are new. */
    boolean tellHost(long pinned, long pageable) {
        if (pinned == pinnedTarget && pageable == pageableTarget) {
            return false;
        }
        pinnedTarget = pinned;
        pageableTarget = pageable;
        member.touch(block -> {
            member.residency().pinnedTarget(pinned);
            member.residency().pageableTarget(pageable);
        });
        return true;
    }

    /** Writes into its words whether it is evicted, whether the driver has it off the device, and whether it is short of memory. */
    void tellFlags() {
        long flags = (evicted ? ResidencyBlock.FLAG_PARKED : 0) | (checkpointed ? ResidencyBlock.FLAG_CHECKPOINTED : 0)
                | (shortOf.isEmpty() ? 0 : ResidencyBlock.FLAG_SHORT);
        member.touch(block -> member.residency().flags(flags));
        ring();
    }

    void ring() {
        member.session().ring(member.slot());
    }
}
