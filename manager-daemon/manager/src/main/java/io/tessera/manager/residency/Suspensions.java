package io.tessera.manager.residency;

import io.tessera.manager.residency.Checkpoints.Action;
import io.tessera.manager.residency.SuspensionChoice.Chosen;
import io.tessera.manager.residency.SuspensionChoice.Way;
import io.tessera.manager.session.Session;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.ThreadSlot;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Suspends whole processes: the driver's checkpoint takes them off the GPU, contexts included. A process is first drained. Then its contents are moved
 * out as in an eviction, unless the driver is quicker at that ({@link SuspensionChoice}). Then it is checkpointed. A call at the gate, or a thread found
 * inside a driver call, brings it back. A process whose contents were moved out gets its turn, and room for them, before it is restored. One owner thread.
 */
final class Suspensions {
    private static final Logger LOG = LoggerFactory.getLogger(Suspensions.class);

    /** Time after which the restore of a process is tried again: others may hold the memory it needs. */
    private static final long RETRY_NS = 1_000_000_000L;

    /** Longest wait for room before the driver is asked anyway; it refuses if there is none. */
    private static final long ROOM_PATIENCE_NS = 10_000_000_000L;

    /** State of one process. */
    private enum State {
        LEAVING, SUSPENDING, SUSPENDED, RETURNING, RESTORING
    }

    /** One process. */
    private static final class Suspension {
        final Way way;
        State state = State.LEAVING;
        boolean wanted;
        long notBeforeNs = Long.MIN_VALUE;

        /** Time since which the present state lasts, and what the process had on its devices when it was suspended. */
        long sinceNs;
        long bytes;

        Suspension(Way way, long nowNs) {
            this.way = way;
            this.sinceNs = nowNs;
        }

        void enter(State next, long nowNs) {
            state = next;
            sinceNs = nowNs;
        }
    }

    private final ResidentDevices devices;
    private final HostShares host;
    private final Checkpoints checkpoints;
    private final SuspensionChoice choice = new SuspensionChoice();
    private final Map<Session, Suspension> processes = new LinkedHashMap<>();
    private boolean begun;

    Suspensions(ResidentDevices devices, HostShares host, Checkpoints checkpoints) {
        this.devices = devices;
        this.host = host;
        this.checkpoints = checkpoints;
    }

    /**
     * Begins to suspend a process: its contents leave its devices, or stay there for the checkpoint, whichever is quicker. A process that the driver
     * would not restore unchanged is evicted, as far as its memory can move.
     *
     * @return why it is not suspended; empty: it will be, if the driver can
     */
    Optional<String> begin(Session session, long nowNs) {
        if (processes.containsKey(session)) {
            return Optional.empty();
        }
        List<ClientDeviceMemory> members = devices.members(session);
        long shares = shares(members.getFirst());
        Optional<String> unfit = CheckpointFitness.against(shares);
        members.forEach(member -> member.notSuspended = unfit.orElse(""));
        if (unfit.isPresent()) {
            LOG.info("{} is not suspended: {}", session, unfit.get());
            members.stream().filter(ClientDeviceMemory::movable).forEach(member -> devices.on(member,
                    device -> device.evictByHand(member, "it cannot be suspended", nowNs)));
            return unfit;
        }
        long contents = members.stream().filter(ClientDeviceMemory::movable)
                .mapToLong(member -> member.residentBytes - member.cachedBytes).sum();
        long rest = members.stream().mapToLong(member -> member.fixedBytes).sum();
        Chosen chosen = choice.choose(contents, rest, devices.rates(session), host.roomBytes(nowNs),
                CheckpointFitness.hasPieces(shares));
        LOG.info("{} is suspended {}", session, chosen.reason());
        processes.put(session, new Suspension(chosen.way(), nowNs));
        for (ClientDeviceMemory member : members) {
            member.suspension = chosen.reason();
            if (chosen.way() == Way.SWAP_FIRST) {
                devices.on(member, device -> device.evictByHand(member, "to be suspended", nowNs));
            } else {
                devices.on(member, device -> device.setAside(member, nowNs));
            }
        }
        return Optional.empty();
    }

    /** Makes a process come back; does nothing to a process that is not suspended. */
    void restore(Session session) {
        Suspension suspension = processes.get(session);
        if (suspension != null) {
            suspension.wanted = true;
        }
    }

    /** Does the work that is due; returns its amount. */
    int doWork(long nowNs) {
        if (!begun) {
            begun = true;
            restoreRemembered();
        }
        int done = 0;
        for (Map.Entry<Session, Suspension> entry : List.copyOf(processes.entrySet())) {
            List<ClientDeviceMemory> members = devices.members(entry.getKey());
            if (members.isEmpty()) {
                processes.remove(entry.getKey());
                remember();
                done++;
            } else {
                done += advance(entry.getKey(), entry.getValue(), members, nowNs);
            }
        }
        return done;
    }

    private void restoreRemembered() {
        for (int pid : checkpoints.remembered()) {
            LOG.info("process {} was suspended by a manager before this one: it is restored", pid);
            checkpoints.begin(Action.RESTORE, pid, (failure, nowNs) -> failure.ifPresent(
                    why -> LOG.info("process {} was not restored: {}", pid, why)));
        }
        checkpoints.remember(List.of());
    }

    private int advance(Session session, Suspension suspension, List<ClientDeviceMemory> members, long nowNs) {
        boolean wanted = suspension.wanted || members.stream().anyMatch(ClientDeviceMemory::waits);
        switch (suspension.state) {
            case LEAVING -> {
                if (wanted) {
                    forget(session);
                    if (suspension.way == Way.CHECKPOINT) {
                        members.forEach(member -> devices.comeBack(member, nowNs));
                    }
                    return 1;
                }
                if (members.stream().allMatch(member -> (suspension.way == Way.CHECKPOINT || member.residentBytes == 0)
                        && devices.isQuiet(member, nowNs))) {
                    suspend(session, suspension, members, nowNs);
                    return 1;
                }
            }
            case SUSPENDED -> {
                if ((wanted || isInside(members.getFirst())) && nowNs >= suspension.notBeforeNs) {
                    if (suspension.way == Way.CHECKPOINT) {
                        suspension.enter(State.RETURNING, nowNs);
                        members.forEach(member -> devices.comeBack(member, nowNs));
                    } else {
                        restore(session, suspension, members, nowNs);
                    }
                    return 1;
                }
            }
            case RETURNING -> {
                members.forEach(member -> devices.on(member, device -> device.askForReturn(member, nowNs)));
                boolean room = members.stream().allMatch(member -> member.targetBytes >= member.frozenBytes);
                boolean late = nowNs - suspension.sinceNs >= ROOM_PATIENCE_NS;
                if ((room || late) && nowNs >= suspension.notBeforeNs) {
                    restore(session, suspension, members, nowNs);
                    return 1;
                }
            }
            case RESTORING -> {
                if (suspension.way == Way.CHECKPOINT) {
                    members.forEach(member -> devices.on(member, device -> device.standIn(member, nowNs)));
                }
                suspension.wanted |= wanted;
            }
            case SUSPENDING -> suspension.wanted |= wanted;
        }
        return 0;
    }

    private void forget(Session session) {
        processes.remove(session);
        devices.members(session).forEach(member -> member.suspension = "");
    }

    /** Returns what the process says that it shares. If its segment is broken, which ends its session, the answer is as if it were about to share. */
    private static long shares(ClientDeviceMemory member) {
        long[] shares = {SegmentHeader.SHARES_CALL};
        member.member.touch(_ -> shares[0] = member.member.session().header().clientShares());
        return shares[0];
    }

    /** Returns whether a thread is inside a driver call. In a drained process that can only be a call that the checkpoint blocks. */
    private static boolean isInside(ClientDeviceMemory member) {
        boolean[] inside = {false};
        member.member.touch(_ -> {
            for (int i = 0; i < SegmentLayout.MAX_THREADS && !inside[0]; i++) {
                ThreadSlot slot = ThreadSlot.of(member.member.session().memory(), i);
                inside[0] = slot.inside() != 0 || slot.syncing();
            }
        });
        return inside[0];
    }

    private void suspend(Session session, Suspension suspension, List<ClientDeviceMemory> members, long nowNs) {
        suspension.enter(State.SUSPENDING, nowNs);
        suspension.bytes = members.stream().mapToLong(member -> member.fixedBytes
                + (member.movable() ? member.residentBytes : 0)).sum();
        mark(members, true);
        // The client announces that it is about to share memory, then reads this mark. With the fence, at least one side sees the other's write.
        VarHandle.fullFence();
        long shares = shares(members.getFirst());
        Optional<String> unfit = CheckpointFitness.against(shares);
        if (unfit.isPresent() || suspension.way == Way.CHECKPOINT && CheckpointFitness.hasPieces(shares)) {
            suspended(session, Optional.of(unfit.orElse("physical memory of others came to it just now")), nowNs);
            return;
        }
        checkpoints.begin(Action.SUSPEND, session.peer().pid(), (failure, endNs) -> suspended(session, failure, endNs));
    }

    private void suspended(Session session, Optional<String> failure, long nowNs) {
        Suspension suspension = processes.get(session);
        if (suspension == null) {
            return;
        }
        List<ClientDeviceMemory> members = devices.members(session);
        if (failure.isEmpty()) {
            LOG.info("{} is suspended", session);
            choice.measured(Action.SUSPEND, suspension.bytes, nowNs - suspension.sinceNs);
            suspension.enter(State.SUSPENDED, nowNs);
            for (ClientDeviceMemory member : members) {
                member.onHost = true;
                member.evicted = true;
                member.tellFlags();
            }
            remember();
        } else {
            LOG.warn("{} is evicted and cannot be suspended: {}", session, failure.get());
            forget(session);
            members.forEach(member -> member.notSuspended = failure.get());
            mark(members, false);
            if (suspension.way == Way.CHECKPOINT) {
                members.forEach(member -> devices.on(member,
                        device -> device.evictByHand(member, "it could not be suspended", nowNs)));
            }
        }
    }

    private void restore(Session session, Suspension suspension, List<ClientDeviceMemory> members, long nowNs) {
        suspension.enter(State.RESTORING, nowNs);
        for (ClientDeviceMemory member : members) {
            member.onHost = false;
            member.restoring = true;
        }
        checkpoints.begin(Action.RESTORE, session.peer().pid(), (failure, endNs) -> restored(session, failure, endNs));
    }

    private void restored(Session session, Optional<String> failure, long nowNs) {
        Suspension suspension = processes.get(session);
        if (suspension == null) {
            return;
        }
        List<ClientDeviceMemory> members = devices.members(session);
        members.forEach(member -> member.restoring = false);
        if (failure.isPresent()) {
            LOG.warn("{} cannot be restored, which is tried again: {}", session, failure.get());
            suspension.enter(suspension.way == Way.CHECKPOINT ? State.RETURNING : State.SUSPENDED, nowNs);
            suspension.wanted = true;
            suspension.notBeforeNs = nowNs + RETRY_NS;
            members.forEach(member -> member.onHost = true);
            return;
        }
        LOG.info("{} is restored", session);
        choice.measured(Action.RESTORE, suspension.bytes, nowNs - suspension.sinceNs);
        forget(session);
        remember();
        mark(members, false);
        for (ClientDeviceMemory member : members) {
            devices.on(member, device -> device.asksItself(member, nowNs));
            devices.comeBack(member, nowNs);
        }
    }

    private static void mark(List<ClientDeviceMemory> members, boolean checkpointed) {
        for (ClientDeviceMemory member : members) {
            member.checkpointed = checkpointed;
            member.tellFlags();
        }
    }

    private List<Integer> suspendedPids() {
        List<Integer> pids = new ArrayList<>();
        processes.forEach((session, suspension) -> {
            if (suspension.state != State.LEAVING && suspension.state != State.SUSPENDING) {
                pids.add(session.peer().pid());
            }
        });
        return pids;
    }

    private void remember() {
        checkpoints.remember(suspendedPids());
    }

    /** Returns whether no process has to be checked without a doorbell. */
    boolean isEmpty() {
        return processes.isEmpty();
    }

    /** Restores all processes; for a manager that ends. */
    void close() {
        checkpoints.restoreAll(suspendedPids());
        checkpoints.remember(List.of());
    }
}
