package io.tessera.manager.conductor;

import io.tessera.clock.NanoClock;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.manager.session.Sessions;
import io.tessera.os.LinuxException;
import io.tessera.os.Poller;
import java.util.List;

/** The duty cycle of the owner thread: it waits, then lets every part do the work that is due. */
public final class Conductor {
    /**
     * Longest wait while an order is unanswered. Clients ring when they answer, so this only bounds the cost of a lost doorbell; the cost of fifty
     * cycles a second cannot be measured.
     */
    static final long UNANSWERED_WAIT_NS = 20_000_000L;

    /**
     * Number of cycles in a row that may fail by a fault in memory without a client that caused it; more faults are not a client's doing, or the
     * client cannot be found.
     */
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

    /** Another part on this thread with deadlines of its own, such as the control socket or the executors. */
    public interface Timed {
        /** Does the work that is due and returns the amount of work done. */
        int doWork(long nowNs);

        /** Returns the time of its next work if nothing else happens; {@link Long#MAX_VALUE}: never. */
        long nextDeadlineNs();
    }

    /** Creates the cycle over parts that the caller owns and closes. */
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
     * Runs one cycle.
     *
     * @param maxWaitNs maximum wait for an event; 0: do not wait
     * @return the amount of work done
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
            // A fault in a mapping that compiled code reported late: find its segment, end that client, continue.
            errors.record("a segment faulted: " + e.getMessage());
            if (!sessions.checkSegments() && ++faults > MOST_FAULTS_IN_A_ROW) {
                throw e;
            }
            return 1;
        }
    }

    /** Returns how long the next {@link #doWork} may wait, in nanoseconds. */
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
