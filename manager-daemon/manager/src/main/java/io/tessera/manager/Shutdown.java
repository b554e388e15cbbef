package io.tessera.manager;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.executors.Executors;
import io.tessera.manager.session.Session;
import io.tessera.manager.session.Sessions;
import java.util.HashSet;
import java.util.Set;

/**
 * The end of everything that this manager has started or serves, in order: its clients' processes, its executors, itself. Every wait has a bound. One
 * owner thread.
 */
final class Shutdown implements Conductor.Timed {
    /** From SIGTERM to SIGKILL are 2 s; after that a driver needs time to release its contexts. */
    private static final long PROGRAMS_NS = 5_000_000_000L;
    /** An executor gives its sessions 17 s. */
    private static final long EXECUTORS_NS = 20_000_000_000L;
    private static final long LOOK_NS = 50_000_000L;

    private final Sessions sessions;
    private final Executors executors;
    private final Runnable stop;
    private final Set<Session> asked = new HashSet<>();
    /** {@link Long#MAX_VALUE}: no end was requested. */
    private long programsUntilNs = Long.MAX_VALUE;
    private long executorsUntilNs = Long.MAX_VALUE;
    private long nextNs = Long.MAX_VALUE;

    /** Creates a shutdown that has not begun. */
    Shutdown(Sessions sessions, Executors executors, Runnable stop) {
        this.sessions = sessions;
        this.executors = executors;
        this.stop = stop;
    }

    /** Begins the shutdown. */
    void begin(long nowNs) {
        programsUntilNs = nowNs + PROGRAMS_NS;
        nextNs = nowNs;
    }

    @Override
    public int doWork(long nowNs) {
        if (nextNs > nowNs) {
            return 0;
        }
        nextNs = nowNs + LOOK_NS;
        sessions.registered().stream().filter(asked::add).forEach(Session::terminate);
        if (executorsUntilNs == Long.MAX_VALUE) {
            if (sessions.isEmpty() || nowNs >= programsUntilNs) {
                executors.stop();
                executorsUntilNs = nowNs + EXECUTORS_NS;
            }
        } else if (!executors.isRunning() || nowNs >= executorsUntilNs) {
            executors.kill();
            nextNs = Long.MAX_VALUE;
            stop.run();
        }
        return 1;
    }

    @Override
    public long nextDeadlineNs() {
        return nextNs;
    }
}
