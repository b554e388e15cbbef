package io.tessera.manager.residency;

import io.tessera.manager.residency.Checkpoints.Action;
import io.tessera.manager.session.Session;
import io.tessera.protocol.SegmentLayout;
import io.tessera.protocol.ThreadSlot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes that the driver takes off the GPU whole, contexts included: first drained and moved out as when evicted, then
 * checkpointed. A call at the gate, or a thread found inside a driver call, brings them back. One owner thread.
 */
final class Suspensions {
    private static final Logger LOG = LoggerFactory.getLogger(Suspensions.class);

    /** A process that could not be restored is tried again after this long: others may hold the memory it needs. */
    private static final long RETRY_NS = 1_000_000_000L;

    /** Where one process is. */
    private enum State {
        LEAVING, SUSPENDING, SUSPENDED, RESTORING
    }

    /** One process. */
    private static final class Suspension {
        State state = State.LEAVING;
        boolean wanted;
        long notBeforeNs = Long.MIN_VALUE;
    }

    private final Residency residency;
    private final Checkpoints checkpoints;
    private final Map<Session, Suspension> processes = new LinkedHashMap<>();
    private boolean begun;

    Suspensions(Residency residency, Checkpoints checkpoints) {
        this.residency = residency;
        this.checkpoints = checkpoints;
    }

    /** Begins with a process whose clients have just been evicted. */
    void begin(Session session) {
        processes.putIfAbsent(session, new Suspension());
    }

    /** Has a process come back; nothing happens to one that is not suspended. */
    void restore(Session session) {
        Suspension suspension = processes.get(session);
        if (suspension != null) {
            suspension.wanted = true;
        }
    }

    /** Does what is due; returns how much. */
    int doWork(long nowNs) {
        if (!begun) {
            begun = true;
            restoreRemembered();
        }
        int done = 0;
        for (Map.Entry<Session, Suspension> entry : List.copyOf(processes.entrySet())) {
            List<MemberMemory> members = residency.members(entry.getKey());
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

    private int advance(Session session, Suspension suspension, List<MemberMemory> members, long nowNs) {
        boolean wanted = suspension.wanted || members.stream().anyMatch(MemberMemory::waits);
        switch (suspension.state) {
            case LEAVING -> {
                if (wanted) {
                    processes.remove(session);
                    return 1;
                }
                if (members.stream().allMatch(member -> member.residentBytes == 0 && residency.isQuiet(member, nowNs))) {
                    suspend(session, suspension, members);
                    return 1;
                }
            }
            case SUSPENDED -> {
                if ((wanted || isInside(session)) && nowNs >= suspension.notBeforeNs) {
                    restore(session, suspension);
                    return 1;
                }
            }
            case SUSPENDING, RESTORING -> suspension.wanted |= wanted;
        }
        return 0;
    }

    /** A thread inside a driver call of a process that was drained can only be one that the checkpoint blocks. */
    private static boolean isInside(Session session) {
        for (int i = 0; i < SegmentLayout.MAX_THREADS; i++) {
            ThreadSlot slot = ThreadSlot.of(session.memory(), i);
            if (slot.inside() != 0 || slot.syncing()) {
                return true;
            }
        }
        return false;
    }

    private void suspend(Session session, Suspension suspension, List<MemberMemory> members) {
        suspension.state = State.SUSPENDING;
        mark(members, true);
        checkpoints.begin(Action.SUSPEND, session.peer().pid(), (failure, nowNs) -> suspended(session, failure));
    }

    private void suspended(Session session, Optional<String> failure) {
        Suspension suspension = processes.get(session);
        if (suspension == null) {
            return;
        }
        if (failure.isEmpty()) {
            LOG.info("{} is suspended", session);
            suspension.state = State.SUSPENDED;
            remember();
        } else {
            LOG.warn("{} is evicted and cannot be suspended: {}", session, failure.get());
            processes.remove(session);
            mark(residency.members(session), false);
        }
    }

    private void restore(Session session, Suspension suspension) {
        suspension.state = State.RESTORING;
        checkpoints.begin(Action.RESTORE, session.peer().pid(), (failure, nowNs) -> restored(session, failure, nowNs));
    }

    private void restored(Session session, Optional<String> failure, long nowNs) {
        Suspension suspension = processes.get(session);
        if (suspension == null) {
            return;
        }
        if (failure.isPresent()) {
            LOG.warn("{} cannot be restored, which is tried again: {}", session, failure.get());
            suspension.state = State.SUSPENDED;
            suspension.wanted = true;
            suspension.notBeforeNs = nowNs + RETRY_NS;
            return;
        }
        LOG.info("{} is restored", session);
        processes.remove(session);
        remember();
        List<MemberMemory> members = residency.members(session);
        mark(members, false);
        members.forEach(member -> residency.comeBack(member, nowNs));
    }

    private static void mark(List<MemberMemory> members, boolean checkpointed) {
        for (MemberMemory member : members) {
            member.checkpointed = checkpointed;
            member.tellFlags();
        }
    }

    private List<Integer> suspendedPids() {
        List<Integer> pids = new ArrayList<>();
        processes.forEach((session, suspension) -> {
            if (suspension.state == State.SUSPENDED || suspension.state == State.RESTORING) {
                pids.add(session.peer().pid());
            }
        });
        return pids;
    }

    private void remember() {
        checkpoints.remember(suspendedPids());
    }

    /** Whether anybody is to be looked at without a bell. */
    boolean isEmpty() {
        return processes.isEmpty();
    }

    /** Restores everybody; for a manager that ends. */
    void close() {
        checkpoints.restoreAll(suspendedPids());
        checkpoints.remember(List.of());
    }
}
