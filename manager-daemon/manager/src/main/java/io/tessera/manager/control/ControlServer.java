package io.tessera.manager.control;

import io.tessera.clock.NanoClock;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
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

/** The control socket. Everything it holds is bounded: connections, lines, answers, silence. One owner thread. */
public final class ControlServer implements Conductor.Timed, AutoCloseable {
    /** Connections at once; one more is told so and closed. */
    static final int MOST_CONNECTIONS = 32;
    /** A connection that says nothing, or does not read its answer, for this long is closed. */
    static final long IDLE_TIMEOUT_NS = 60_000_000_000L;
    private static final long ACCEPT_PAUSE_NS = 1_000_000_000L;
    private static final int SCRATCH_BYTES = 16_384;
    private static final int BACKLOG = 64;

    private final LinuxPort os;
    private final Poller poller;
    private final NanoClock monotonic;
    private final DistinctErrors errors;
    private final ControlRequests requests;
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, 8);
    private final Set<ControlConnection> connections = new LinkedHashSet<>();
    private int listening = -1;
    private long listeningToken;
    private long acceptAgainNs = Long.MAX_VALUE;

    /** No connections yet. */
    public ControlServer(LinuxPort os, Poller poller, NanoClock monotonic, DistinctErrors errors,
            ControlTarget target) {
        this.os = os;
        this.poller = poller;
        this.monotonic = monotonic;
        this.errors = errors;
        this.requests = new ControlRequests(target);
    }

    /** Listens; root's socket is open to every user, who may read the status there. */
    public void listen(Path path) throws LinuxException {
        listening = os.sockets().listen(path, SocketKind.STREAM, os.processes().uid() == 0 ? 0666 : 0600, BACKLOG);
        listeningToken = poller.add(listening, PollPort.READABLE, events -> acceptAll());
    }

    private void acceptAll() {
        try {
            int socket;
            while ((socket = os.sockets().accept(listening)) != SocketPort.WOULD_BLOCK) {
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
            ControlConnection connection = new ControlConnection(os.sockets(), socket, os.sockets().peer(socket),
                    requests, monotonic.nanoTime());
            if (connections.size() >= MOST_CONNECTIONS) {
                connection.refuse("as many control connections as are admitted are open already: "
                        + MOST_CONNECTIONS, scratch);
                return;
            }
            connection.token = poller.add(socket, PollPort.READABLE, events -> advance(connection));
            connections.add(connection);
            kept = true;
        } finally {
            if (!kept) {
                os.sockets().closeAfterReading(socket);
            }
        }
    }

    private void advance(ControlConnection connection) {
        try {
            if (connection.advance(scratch, monotonic.nanoTime())) {
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
            if (nowNs - connection.lastHeardNs >= IDLE_TIMEOUT_NS) {
                end(connection);
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
            next = Math.min(next, connection.hasInput() ? 0 : connection.lastHeardNs + IDLE_TIMEOUT_NS);
        }
        return next;
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
