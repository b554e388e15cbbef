package io.tessera.manager.conductor;

import io.tessera.manager.session.Session;
import io.tessera.manager.session.Sessions;

/** Writes the manager's heartbeat into every segment four times a second: SPEC.md, section 4, promises two. */
final class Heartbeats {
    static final long INTERVAL_NS = 250_000_000L;

    private final Sessions sessions;
    private final Leases leases;
    private long nextNs = Long.MIN_VALUE;

    Heartbeats(Sessions sessions, Leases leases) {
        this.sessions = sessions;
        this.leases = leases;
    }

    int doWork(long nowNs) {
        if (nowNs < nextNs) {
            return 0;
        }
        nextNs = nowNs + INTERVAL_NS;
        for (Session session : sessions.registered()) {
            if (session.isFaulty()) {
                continue;
            }
            try {
                session.header().managerHeartbeatNs(nowNs);
            } catch (InternalError e) {
                session.faulted(e);
            }
        }
        leases.refreshUse();
        return 1;
    }

    /** Returns the next deadline; there is none while there is no client. */
    long nextDeadlineNs() {
        return sessions.registered().isEmpty() ? Long.MAX_VALUE : nextNs;
    }
}
