package io.tessera.manager.session;

import io.tessera.clock.Clocks;
import io.tessera.manager.admission.AdmissionQueue;
import io.tessera.os.Errno;
import io.tessera.os.LineLimit;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerBounds;
import io.tessera.os.PeerCredentials;
import io.tessera.os.PollPort;
import io.tessera.os.Poller;
import io.tessera.os.ProcessPort;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.message.SharingAnswer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All connections of the registration socket and their processes. One owner thread: its duty cycle calls {@link #doWork}, and the poller calls the
 * handlers in between.
 *
 * <p>A session ends in two steps. When its connection ends, it receives nothing more and 50 ms begin. When they are over or the process is gone,
 * whichever is first, the listener is called and the segment is removed (SPEC.md, section 4).
 */
public final class Sessions implements AutoCloseable, PacketReceiver.Answers {
    /** Time after which a peer is disconnected that has not said HELLO. */
    static final long HELLO_TIMEOUT_NS = 5_000_000_000L;
    /** Time from the end of the connection to the end of the session, if the process still exists (SPEC.md, section 4). */
    static final long END_GRACE_NS = 50_000_000L;
    /** Time from SIGTERM to SIGKILL of a client that is ended. */
    static final long KILL_GRACE_NS = 2_000_000_000L;
    /** Pause after the descriptors ran out, so that the listener, which stays readable, does not spin. */
    static final long ACCEPT_PAUSE_NS = 1_000_000_000L;
    /**
     * Maximum number of peers of a user that have not said HELLO. For one more, the oldest one of that user, or of the user with the most, is
     * disconnected.
     */
    static final int MOST_UNREGISTERED = 256;
    static final int MOST_UNREGISTERED_OF_ALL = 2_048;
    /** Connections accepted in a row, before the rest of the cycle continues. */
    private static final int TAKEN_AT_ONCE = 64;
    /** Maximum number of log lines in {@link #LINES_NS} about processes of one user. */
    private static final int LINES = 100;
    private static final long LINES_NS = 10_000_000_000L;
    /** Packets read from one connection in one cycle, so that a client that sends much does not starve others. */
    private static final int PACKETS_PER_CYCLE = 64;
    private static final int BACKLOG = 512;
    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);

    private final LinuxPort os;
    private final Poller poller;
    private final Clocks clocks;
    private final DistinctErrors errors;
    private final SessionListener listener;
    private final Registration registration;
    private final AdmissionQueue admission;
    private final Set<Session> connected = new LinkedHashSet<>();
    private final PeerBounds<Session> unregistered = new PeerBounds<>(MOST_UNREGISTERED, MOST_UNREGISTERED_OF_ALL);
    private final LineLimit lines;
    private final Map<Long, Session> registered = new LinkedHashMap<>();
    private final Set<Session> ending = new LinkedHashSet<>();
    /** Answers about the way of sharing, by process, until it registers. */
    private final Map<Integer, SharingAnswer> chosen = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, SharingAnswer> eldest) {
            return size() > MOST_UNREGISTERED_OF_ALL;
        }
    };
    private final MemorySegment packet = Arena.ofAuto().allocate(MessageLayout.MAX_BYTES + 8L, 8);
    private long changes;
    private int listening = -1;
    private long listeningToken;
    private long acceptAgainNs = Long.MAX_VALUE;

    /**
     * Creates an object without connections.
     *
     * @param admission decides whether there is a place for one more client
     * @param listener  receives what registered clients say
     */
    public Sessions(LinuxPort os, Poller poller, Clocks clocks, SegmentStore store, DistinctErrors errors,
            AdmissionQueue admission, SessionListener listener) {
        this.os = os;
        this.poller = poller;
        this.clocks = clocks;
        this.errors = errors;
        this.admission = admission;
        this.listener = listener;
        this.lines = new LineLimit(clocks.monotonic()::nanoTime, LINES, LINES_NS);
        this.registration = new Registration(os, clocks, store);
    }

    /** Starts to listen; root's socket is open to every user, because the peer's uid decides (SPEC.md, section 1). */
    public void listen(Path path) throws LinuxException {
        listening = os.sockets().listen(path, SocketKind.SEQPACKET, os.processes().uid() == 0 ? 0666 : 0600, BACKLOG);
        listeningToken = poller.add(listening, PollPort.READABLE, events -> acceptAll());
    }

    /** Returns the clients that are registered and connected. */
    public Collection<Session> registered() {
        return registered.values();
    }

    /** Returns the number of the latest change of {@link #registered}. */
    public long changes() {
        return changes;
    }

    /** Returns whether no client is left, including those that are just ending. */
    public boolean isEmpty() {
        return registered.isEmpty() && ending.isEmpty();
    }

    /** Returns the number of the client of a process; 0: it is not registered. */
    public long idOf(int pid) {
        return registered.values().stream().filter(session -> session.peer().pid() == pid).mapToLong(Session::clientId)
                .findFirst().orElse(0);
    }

    private void acceptAll() {
        try {
            int socket;
            for (int i = 0; i < TAKEN_AT_ONCE
                    && (socket = os.sockets().accept(listening)) != SocketPort.WOULD_BLOCK; i++) {
                accepted(socket);
            }
        } catch (LinuxException e) {
            errors.record("connections cannot be taken: " + e.getMessage());
            pauseAccepting();
        }
    }

    private void pauseAccepting() {
        acceptAgainNs = clocks.monotonic().nanoTime() + ACCEPT_PAUSE_NS;
        try {
            poller.change(listening, 0, listeningToken);
        } catch (LinuxException e) {
            errors.record("the listener cannot be paused: " + e.getMessage());
        }
    }

    private void accepted(int socket) throws LinuxException {
        boolean kept = false;
        int pidfd = ProcessPort.NO_PIDFD;
        try {
            PeerCredentials peer = os.sockets().peer(socket);
            pidfd = os.processes().pidfdOfPeer(socket, peer);
            long nowNs = clocks.monotonic().nanoTime();
            Session session = new Session(os, socket, pidfd, peer, nowNs, nowNs + HELLO_TIMEOUT_NS);
            session.socketToken = poller.add(socket, PollPort.READABLE, events -> readable(session));
            if (pidfd != ProcessPort.NO_PIDFD) {
                session.pidfdToken = poller.add(pidfd, PollPort.READABLE, events -> processGone(session));
            }
            connected.add(session);
            kept = true;
            Session goes = unregistered.enter(session, peer.uid());
            if (goes != null) {
                readable(goes); // if this thread was late, its HELLO may not have been read yet
            }
            if (goes != null && goes.state == Session.State.CONNECTED) {
                goes.fault("more than " + MOST_UNREGISTERED + " processes of this user have not said HELLO");
                endFaulty(goes);
            }
        } finally {
            if (!kept) {
                os.sockets().close(socket);
                if (pidfd != ProcessPort.NO_PIDFD) {
                    os.processes().close(pidfd);
                }
            }
        }
    }

    private void processGone(Session session) {
        session.processGone = true;
        quietly(session, () -> poller.remove(session.pidfd, session.pidfdToken));
        connectionEnded(session);
    }

    private void readable(Session session) {
        try {
            for (int i = 0; i < PACKETS_PER_CYCLE && isOpen(session); i++) {
                int bytes = os.sockets().receive(session.socket, packet);
                if (bytes == SocketPort.WOULD_BLOCK) {
                    return;
                }
                if (bytes == 0) {
                    connectionEnded(session);
                    return;
                }
                new PacketReceiver(this, listener, session, clocks.monotonic().nanoTime()).receive(packet, bytes);
            }
        } catch (MalformedMessageException e) {
            errors.record(session.peer().uid(), "a packet was refused: " + e.getMessage());
            refuse(session, e.code(), e.getMessage());
        } catch (LinuxException e) {
            if (e.errno() != Errno.ECONNRESET && e.errno() != Errno.EPIPE) {
                errors.record(session.peer().uid(), "a connection failed: " + e.getMessage());
            }
            connectionEnded(session);
        } catch (RuntimeException e) {
            // A defect of the manager that this client has triggered: this client alone ends.
            if (lines.admits(session.peer().uid())) {
                LOG.error("{} is ended: a packet of it met a defect of the manager", session, e);
            }
            errors.record(session.peer().uid(), "a packet met a defect of the manager: " + e);
            refuse(session, RefusalCode.MALFORMED, "the manager failed at a packet: " + e);
        }
    }

    private static boolean isOpen(Session session) {
        return session.state == Session.State.CONNECTED || session.state == Session.State.REGISTERED;
    }

    @Override
    public void sharing(Session session, String tenant) throws LinuxException {
        if (!registration.serves(session.peer().uid())) {
            refuse(session, RefusalCode.PEER, "this manager does not serve user " + Integer.toUnsignedString(session.peer().uid()));
            return;
        }
        SharingAnswer answer = listener.sharing(session, tenant, clocks.monotonic().nanoTime());
        chosen.put(session.peer().pid(), answer);
        os.sockets().send(session.socket, packet, MessageEncoder.sharing(packet, answer));
        connectionEnded(session);
    }

    @Override
    public void hello(Session session, Hello hello) throws LinuxException {
        String full = admission.refusal(session.peer().uid(), session.peer().pid(), hello.tenant(), clocks.monotonic().nanoTime());
        Registration.Refusal refusal = full != null ? new Registration.Refusal(RefusalCode.FULL, full) : registration.admit(session, hello);
        if (refusal != null) {
            errors.record(session.peer().uid(), "a client was refused: " + refusal.reason());
            refuse(session, refusal.code(), refusal.reason());
            return;
        }
        unregistered.leave(session, session.peer().uid());
        connected.remove(session);
        registered.put(session.clientId(), session);
        changes++;
        admission.registered(session.peer().uid(), hello.tenant(), session.peer().pid(), session.clientId()).ifPresent(session::placement);
        SharingAnswer told = chosen.remove(session.peer().pid());
        if (told != null) {
            boolean kept = told.space() == (hello.plan() == MemoryPlan.RELAY);
            session.sharing(kept ? told.reason() : "the manager's answer came too late, so it shares by time");
        }
        if (lines.admits(session.peer().uid())) {
            LOG.info("{} registered, plan {}, limit {} bytes", session, hello.plan(),
                    Long.toUnsignedString(hello.limitBytes()));
        }
    }

    private void refuse(Session session, RefusalCode code, String reason) {
        if (isOpen(session)) {
            quietly(session, () -> registration.refuse(session, code, reason));
            connectionEnded(session);
        }
    }

    /** Takes the first step of the end: the connection is closed, but the process may still have work in the driver. */
    private void connectionEnded(Session session) {
        if (isOpen(session)) {
            boolean wasRegistered = session.state == Session.State.REGISTERED;
            if (wasRegistered) {
                session.giveUp();
            }
            session.state = Session.State.ENDING;
            session.deadlineNs = wasRegistered ? clocks.monotonic().nanoTime() + END_GRACE_NS : 0;
            unregistered.leave(session, session.peer().uid());
            connected.remove(session);
            changes += registered.remove(session.clientId()) == null ? 0 : 1;
            ending.add(session);
            quietly(session, () -> poller.remove(session.socket, session.socketToken));
            quietly(session, () -> os.sockets().closeAfterReading(session.socket));
        }
    }

    /** Takes the second step: whatever the client held is free. */
    private void finish(Session session, long nowNs) {
        session.state = Session.State.ENDED;
        ending.remove(session);
        if (session.segment != null) {
            if (lines.admits(session.peer().uid())) {
                // The driver needs time to end a context; a program that continues registers again.
                LOG.info(session.processGone ? "{} ended"
                        : "{} closed its connection before it ended; what it held is free", session);
            }
            listener.ended(session, nowNs);
            quietly(session, session.segment::close);
        }
        if (session.pidfd != ProcessPort.NO_PIDFD) {
            if (!session.processGone) {
                quietly(session, () -> poller.remove(session.pidfd, session.pidfdToken));
            }
            quietly(session, () -> os.processes().close(session.pidfd));
        }
    }

    /** Does the work that is due: ends, kills, owed messages. Returns its amount. */
    public int doWork(long nowNs) {
        int work = 0;
        lines.sayLeftOut(nowNs, LOG::warn);
        for (Session session : List.copyOf(connected)) {
            if (session.deadlineNs <= nowNs && session.fault == null) {
                session.fault("it did not say HELLO within " + HELLO_TIMEOUT_NS / 1_000_000_000L + " s");
            }
            work += endFaulty(session);
        }
        for (Session session : new ArrayList<>(registered.values())) {
            work += endFaulty(session) + session.flush() + signal(session, nowNs);
        }
        for (Session session : List.copyOf(ending)) {
            work += signal(session, nowNs);
            if (session.processGone || session.deadlineNs <= nowNs) {
                finish(session, nowNs);
                work++;
            }
        }
        if (acceptAgainNs <= nowNs) {
            acceptAgainNs = Long.MAX_VALUE;
            quietly(null, () -> poller.change(listening, PollPort.READABLE, listeningToken));
            work++;
        }
        return work;
    }

    private int endFaulty(Session session) {
        if (session.fault == null || !isOpen(session)) {
            return 0;
        }
        errors.record(session.peer().uid(), "a connection was ended: " + session.fault);
        if (lines.admits(session.peer().uid())) {
            LOG.info("{}: {}", session, session.fault);
        }
        refuse(session, RefusalCode.MALFORMED, session.fault);
        return 1;
    }

    private int signal(Session session, long nowNs) {
        boolean terminate = session.takeTermination();
        boolean kill = session.killAtNs <= nowNs;
        if (!terminate && !kill || session.processGone) {
            return 0;
        }
        int signal = kill ? ProcessPort.SIGKILL : ProcessPort.SIGTERM;
        session.killAtNs = kill ? Long.MAX_VALUE : nowNs + KILL_GRACE_NS;
        if (session.pidfd == ProcessPort.NO_PIDFD) {
            LOG.error("{} cannot be ended: its process is not visible to this manager", session);
            return 0;
        }
        LOG.warn("{} is ended by signal {}", session, signal);
        quietly(session, () -> os.processes().signal(session.pidfd, signal));
        return 1;
    }

    /**
     * Ends the sessions whose segment file was truncated by its owner; if there is none, those in whose memory the fault occurred. Called after a
     * memory access faulted.
     *
     * @return whether there was such a session
     */
    public boolean checkSegments() {
        List<Session> mapped = new ArrayList<>(registered.values());
        ending.stream().filter(session -> session.segment != null).forEach(mapped::add);
        List<Session> guilty = mapped.stream().filter(session -> !session.isFaulty() && session.isCut()).toList();
        if (guilty.isEmpty()) {
            guilty = mapped.stream().filter(session -> session.suspected).toList();
        }
        guilty.forEach(session -> session.fault("its segment could not be used, probably its file was cut short"));
        mapped.forEach(session -> session.suspected = false);
        return !guilty.isEmpty();
    }

    /** Returns when {@link #doWork} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    public long nextDeadlineNs() {
        long next = acceptAgainNs;
        for (Session session : connected) {
            next = Math.min(next, session.fault == null ? session.deadlineNs : 0);
        }
        for (Session session : registered.values()) {
            next = Math.min(next, session.fault == null ? session.killAtNs : 0);
        }
        for (Session session : ending) {
            next = Math.min(next, Math.min(session.deadlineNs, session.killAtNs));
        }
        return next;
    }

    /** A step of an end; its failure must not prevent the other steps. */
    @FunctionalInterface
    private interface Step {
        void run() throws LinuxException;
    }

    private void quietly(Session session, Step step) {
        try {
            step.run();
        } catch (LinuxException e) {
            if (e.errno() != Errno.EPIPE && e.errno() != Errno.ECONNRESET) {
                errors.record((session == null ? "" : "while a session ended: ") + e.getMessage());
            }
        }
    }

    /** Closes every connection, so that clients run on their own, and removes every segment. */
    @Override
    public void close() {
        if (listening >= 0) {
            quietly(null, () -> poller.remove(listening, listeningToken));
            quietly(null, () -> os.sockets().close(listening));
            listening = -1;
        }
        List<Session> all = new ArrayList<>(connected);
        all.addAll(registered.values());
        all.forEach(this::connectionEnded);
        long nowNs = clocks.monotonic().nanoTime();
        List.copyOf(ending).forEach(session -> finish(session, nowNs));
    }
}
