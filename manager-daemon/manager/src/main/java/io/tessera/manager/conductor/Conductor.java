package io.tessera.manager.conductor;

import io.tessera.clock.NanoClock;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.manager.session.Sessions;
import io.tessera.os.LinuxException;
import io.tessera.os.Poller;
import java.util.List;

/** The duty cycle of the owner thread: wait, then ask everybody for the work that is due. */
public final class Conductor {
    /**
     * Longest wait while an order is unanswered. Clients ring when they answer, so this only bounds what a lost bell
     * costs; fifty looks a second cost nothing that can be measured.
     */
    static final long UNANSWERED_WAIT_NS = 20_000_000L;

    /** Cycles that may fail in a row by a fault in memory; more are no client's doing, or nobody can be found. */
    private static final int MOST_FAULTS_IN_A_ROW = 100;

    private final Poller poller;
    private final NanoClock monotonic;
    private final Sessions sessions;
    private final DeviceRegistry devices;
    private final Leases leases;
    private final Heartbeats heartbeats;
    private final ConductorProxy proxy;
    private final List<Timed> others;
    private final DistinctErrors errors;
    private int faults;

    /** Something else on this thread with deadlines of its own: the control socket, the executors. */
    public interface Timed {
        /** Does what is due and returns how much it did. */
        int doWork(long nowNs);

        /** When it has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
        long nextDeadlineNs();
    }

    /** Over parts that their maker owns and closes. */
    public Conductor(Poller poller, NanoClock monotonic, Sessions sessions, DeviceRegistry devices, Leases leases,
            ConductorProxy proxy, List<Timed> others, DistinctErrors errors) {
        this.poller = poller;
        this.monotonic = monotonic;
        this.sessions = sessions;
        this.devices = devices;
        this.leases = leases;
        this.heartbeats = new Heartbeats(sessions, leases);
        this.proxy = proxy;
        this.others = List.copyOf(others);
        this.errors = errors;
    }

    /**
     * One cycle.
     *
     * @param maxWaitNs how long to wait at most for something to happen; 0: do not wait
     * @return how much work was done
     */
    public int doWork(long maxWaitNs) throws LinuxException {
        try {
            int work = poller.dispatch(maxWaitNs);
            long nowNs = monotonic.nanoTime();
            work += proxy.drain(nowNs);
            work += devices.readWords(nowNs);
            work += sessions.doWork(nowNs);
            work += devices.schedule(nowNs);
            work += leases.doWork(nowNs);
            for (Timed other : others) {
                work += other.doWork(nowNs);
            }
            work += heartbeats.doWork(nowNs);
            faults = 0;
            return work;
        } catch (InternalError e) {
            // A fault in a mapping that the compiler let through late: find whose, end that client, go on.
            errors.record("a segment faulted: " + e.getMessage());
            if (!sessions.checkSegments() && ++faults > MOST_FAULTS_IN_A_ROW) {
                throw e;
            }
            return 1;
        }
    }

    /** How long the next {@link #doWork} may wait, in nanoseconds. */
    public long idleNs() {
        long nowNs = monotonic.nanoTime();
        long next = Math.min(Math.min(sessions.nextDeadlineNs(), devices.nextDeadlineNs()),
                Math.min(leases.nextDeadlineNs(), heartbeats.nextDeadlineNs()));
        for (Timed other : others) {
            next = Math.min(next, other.nextDeadlineNs());
        }
        if (devices.awaitsAnswer()) {
            next = Math.min(next, nowNs + UNANSWERED_WAIT_NS);
        }
        return next == Long.MAX_VALUE ? next : Math.max(0, next - nowNs);
    }
}
