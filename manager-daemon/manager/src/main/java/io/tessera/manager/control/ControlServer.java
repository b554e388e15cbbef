package io.tessera.manager.control;

import io.tessera.clock.NanoClock;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerBounds;
import io.tessera.os.PollPort;
import io.tessera.os.Poller;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The control socket. Connections, lines, answers and times of silence are bounded. One owner thread. */
public final class ControlServer implements Conductor.Timed, AutoCloseable {
    /** Maximum number of connections of one user. For one more, an older one without a request is closed, or else the new one. */
    static final int MOST_OF_USER = 32;
    static final int MOST_CONNECTIONS = 512;
    /** Time after which a connection without any request is closed. */
    static final long SILENT_TIMEOUT_NS = 5_000_000_000L;
    /** Time after which a connection is closed that has asked before and is silent, or does not read its answer. */
    static final long IDLE_TIMEOUT_NS = 60_000_000_000L;
    private static final long ACCEPT_PAUSE_NS = 1_000_000_000L;
    private static final int SCRATCH_BYTES = 16_384;
    private static final int BACKLOG = 512;
    /** Connections accepted in a row, before the rest of the cycle continues. */
    private static final int TAKEN_AT_ONCE = 64;
    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);

    private final LinuxPort os;
    private final Poller poller;
    private final NanoClock monotonic;
    private final DistinctErrors errors;
    private final AccessControl authority;
    private final ControlRequests requests;
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, 8);
    private final Set<ControlConnection> connections = new LinkedHashSet<>();
    private final PeerBounds<ControlConnection> silent = new PeerBounds<>(MOST_OF_USER, MOST_CONNECTIONS);
    private int listening = -1;
    private long listeningToken;
    private long acceptAgainNs = Long.MAX_VALUE;

    /** Creates a server without connections. */
    public ControlServer(LinuxPort os, Poller poller, NanoClock monotonic, DistinctErrors errors,
            ControlTarget target) {
        this.os = os;
        this.poller = poller;
        this.monotonic = monotonic;
        this.errors = errors;
        this.authority = AccessControl.of(os.processes().uid(), Path.of("/etc/group"));
        this.requests = new ControlRequests(target, authority);
    }

    /** Starts to listen; root's socket is open to every user, and anyone may read the status there. */
    public void listen(Path path) throws LinuxException {
        listening = os.sockets().listen(path, SocketKind.STREAM, os.processes().uid() == 0 ? 0666 : 0600, BACKLOG);
        listeningToken = poller.add(listening, PollPort.READABLE, events -> acceptAll());
    }

    private void acceptAll() {
        try {
            int socket;
            for (int i = 0; i < TAKEN_AT_ONCE
                    && (socket = os.sockets().accept(listening)) != SocketPort.WOULD_BLOCK; i++) {
                accepted(socket);
            }
        } catch (LinuxException e) {
            errors.record("control connections cannot be taken: " + e.getMessage());
            acceptAgainNs = monotonic.nanoTime() + ACCEPT_PAUSE_NS;
            watchListener(0);
        }
    }

    private void watchListener(int interest) {
        try {
            poller.change(listening, interest, listeningToken);
        } catch (LinuxException e) {
            errors.record("the control socket cannot be watched: " + e.getMessage());
        }
    }

    private void accepted(int socket) throws LinuxException {
        boolean kept = false;
        try {
            ControlConnection connection = new ControlConnection(os.sockets(), socket,
                    authority.asker(os.sockets().peer(socket), os.sockets().peerGroups(socket)),
                    requests, monotonic.nanoTime());
            if (!makeRoom(connection.uid())) {
                connection.refuse("as many control connections as are admitted are open already: " + MOST_OF_USER
                        + " of a user, " + MOST_CONNECTIONS + " of all", scratch);
                return;
            }
            connection.token = poller.add(socket, PollPort.READABLE, events -> advance(connection));
            connections.add(connection);
            kept = true;
            ControlConnection goes = silent.enter(connection, connection.uid());
            if (goes != null) {
                tooMany(goes);
            }
        } finally {
            if (!kept) {
                os.sockets().closeAfterReading(socket);
            }
        }
    }

    /**
     * Returns whether one more may come; to make room, it ends a connection without a request: one of this user, or of the user with the most of
     * them.
     */
    private boolean makeRoom(int uid) {
        boolean userFull = connections.stream().filter(connection -> connection.uid() == uid).count() >= MOST_OF_USER;
        if (!userFull && connections.size() < MOST_CONNECTIONS) {
            return true;
        }
        ControlConnection goes = userFull ? silent.oldest(uid) : silent.oldestOfGreediest();
        if (goes == null) {
            return false;
        }
        tooMany(goes);
        return true;
    }

    private void tooMany(ControlConnection connection) {
        advance(connection); // if this thread was late, its request may not have been read yet: it gets its answer
        if (!connections.contains(connection)) {
            return;
        }
        endWith(connection, "more control connections were opened than are admitted (" + MOST_OF_USER
                + " of a user), and this one has asked nothing");
    }

    private void endWith(ControlConnection connection, String sentence) {
        try {
            connection.refuse(sentence, scratch);
        } catch (LinuxException e) {
            LOG.debug("a control connection does not hear why it ends: {}", e.getMessage());
        }
        end(connection);
    }

    private void advance(ControlConnection connection) {
        try {
            boolean goesOn = connection.advance(scratch, monotonic.nanoTime());
            if (connection.hasAsked()) {
                silent.leave(connection, connection.uid());
            }
            if (goesOn) {
                poller.change(connection.socket, connection.hasOutput() ? PollPort.WRITABLE : PollPort.READABLE,
                        connection.token);
                return;
            }
        } catch (LinuxException e) {
            if (e.errno() != Errno.EPIPE && e.errno() != Errno.ECONNRESET) {
                errors.record("a control connection failed: " + e.getMessage());
            }
        }
        end(connection);
    }

    private void end(ControlConnection connection) {
        if (connections.remove(connection)) {
            silent.leave(connection, connection.uid());
            try {
                poller.remove(connection.socket, connection.token);
            } catch (LinuxException e) {
                errors.record("a control connection cannot be forgotten: " + e.getMessage());
            }
            try {
                os.sockets().closeAfterReading(connection.socket);
            } catch (LinuxException e) {
                errors.record("a control connection cannot be closed: " + e.getMessage());
            }
        }
    }

    @Override
    public int doWork(long nowNs) {
        int work = 0;
        for (ControlConnection connection : List.copyOf(connections)) {
            if (nowNs - idleSinceNs(connection) >= patienceNs(connection)) {
                endWith(connection, "nothing was asked for " + patienceNs(connection) / 1_000_000_000L + " s");
                work++;
            } else if (connection.hasInput()) {
                advance(connection);
                work++;
            }
        }
        if (acceptAgainNs <= nowNs) {
            acceptAgainNs = Long.MAX_VALUE;
            watchListener(PollPort.READABLE);
            work++;
        }
        return work;
    }

    @Override
    public long nextDeadlineNs() {
        long next = acceptAgainNs;
        for (ControlConnection connection : connections) {
            next = Math.min(next, connection.hasInput() ? 0 : idleSinceNs(connection) + patienceNs(connection));
        }
        return next;
    }

    /** Returns since when the connection is idle; a byte now and then does not count as a request. */
    private static long idleSinceNs(ControlConnection connection) {
        return connection.hasAsked() ? connection.lastHeardNs : connection.openedNs;
    }

    private static long patienceNs(ControlConnection connection) {
        return connection.hasAsked() ? IDLE_TIMEOUT_NS : SILENT_TIMEOUT_NS;
    }

    @Override
    public void close() throws LinuxException {
        List.copyOf(connections).forEach(this::end);
        if (listening >= 0) {
            poller.remove(listening, listeningToken);
            os.sockets().close(listening);
            listening = -1;
        }
    }
}
