package io.tessera.executor.session;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.image.ImageOffers;
import io.tessera.os.LineLimit;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerBounds;
import io.tessera.os.PollPort;
import io.tessera.os.Poller;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.message.RelayMessageAdapter;
import io.tessera.protocol.message.RelayMessageEncoder;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor's socket: a client is admitted by its token, asks for pinned memory, and ends with its connection. One
 * owner thread, which also writes every session's heartbeat.
 */
public final class Connections implements AutoCloseable {
    /** Longest wait for a token. A client sends it as soon as it runs, which may be late if many start at once. The number of silent connections is bounded. */
    private static final long SILENT_NS = 30_000_000_000L;
    /** Longest wait for an announcement. The manager sends it before it directs the client here, but over another connection, which may be slower. */
    private static final long ANNOUNCEMENT_NS = 30_000_000_000L;
    /** Bound on the unfenced work of a tenant that was alone: shorter than the newcomer's timeout. */
    private static final long SETTLING_NS = 8_000_000_000L;
    /** Maximum number of connections without a token, for one user and for all users. */
    private static final int MOST_SILENT = 64;
    private static final int MOST_SILENT_OF_ALL = 1_024;
    /** Maximum number of connections whose token the manager has not announced yet, for one user and for all users. */
    private static final int MOST_UNKNOWN = 256;
    private static final int MOST_UNKNOWN_OF_ALL = 2_048;
    /** Maximum number of connections that are accepted before other work is done. */
    private static final int TAKEN_AT_ONCE = 64;
    private static final int BACKLOG = 512;
    /** Pause after the descriptors have run out, so that this thread does not spin on the listener, which stays readable. */
    private static final long ACCEPT_PAUSE_NS = 1_000_000_000L;
    /** Maximum number of log lines in {@link #LINES_NS} about unannounced peers of one user. */
    private static final int LINES = 20;
    private static final long LINES_NS = 10_000_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);

    private final LinuxPort os;
    private final Poller poller;
    private final NanoClock clock;
    private final Admission admission;
    private final SessionFactory factory;
    private final TenantPresence presence;
    private final Reports reports;
    private final List<Connection> connections = new ArrayList<>();
    private final List<Connection> leaving = new ArrayList<>();
    private final PeerBounds<Connection> silent = new PeerBounds<>(MOST_SILENT, MOST_SILENT_OF_ALL);
    private final PeerBounds<Connection> unknown = new PeerBounds<>(MOST_UNKNOWN, MOST_UNKNOWN_OF_ALL);
    private final LineLimit lines;
    private final ProcessCapacity room = new ProcessCapacity();
    private final Pinning pinning;
    private final MemorySegment packet = Arena.ofAuto().allocate(MessageLayout.MAX_BYTES + 8L, 8);
    private int listening = -1;
    private long listeningToken;
    private long acceptAgainNs = Long.MAX_VALUE;
    private long comings;

    /**
     * Creates a set of connections without clients.
     *
     * @param presence receives the arrival and the end of clients
     */
    public Connections(LinuxPort os, Poller poller, NanoClock clock, Admission admission, SessionFactory factory,
            TenantPresence presence, Reports reports) {
        this.presence = presence;
        this.os = os;
        this.poller = poller;
        this.pinning = new Pinning(poller);
        this.clock = clock;
        this.admission = admission;
        this.factory = factory;
        this.reports = reports;
        this.lines = new LineLimit(clock::nanoTime, LINES, LINES_NS);
    }

    /** Listens. Only announced clients are admitted. */
    public void listen(Path path, int permissions) throws LinuxException {
        listening = os.sockets().listen(path, SocketKind.SEQPACKET, permissions, BACKLOG);
        listeningToken = poller.add(listening, PollPort.READABLE, _ -> acceptAll());
    }

    private void acceptAll() {
        try {
            int socket;
            for (int i = 0; i < TAKEN_AT_ONCE
                    && (socket = os.sockets().accept(listening)) != SocketPort.WOULD_BLOCK; i++) {
                taken(socket);
            }
        } catch (LinuxException e) {
            LOG.error("a connection cannot be taken: {}", e.getMessage());
            acceptAgainNs = clock.nanoTime() + ACCEPT_PAUSE_NS;
            listenTo(0);
        }
    }

    private void taken(int socket) throws LinuxException {
        Connection connection;
        boolean kept = false;
        try {
            connection = new Connection(socket, os.sockets().peer(socket), clock.nanoTime());
            connection.pollToken = poller.add(socket, PollPort.READABLE, _ -> readable(connection));
            kept = true;
        } finally {
            if (!kept) {
                os.sockets().close(socket);
            }
        }
        connections.add(connection);
        bound(silent, connection, "more than " + MOST_SILENT + " connections of this user have not said who they are");
    }

    /** Closes one connection if there are too many: the oldest one of this user, or of the user with the largest number of connections. */
    private void bound(PeerBounds<Connection> bounds, Connection connection, String reason) {
        Connection goes = bounds.enter(connection, connection.peer.uid());
        if (goes == null) {
            return;
        }
        RelayToken before = goes.token();
        if (isStill(goes, before)) {
            refuse(goes, RefusalCode.FULL, reason);
        }
    }

    /** Returns whether a connection has sent nothing more. It is read once again, because its message may be unread if this thread was late. */
    private boolean isStill(Connection connection, RelayToken before) {
        readable(connection);
        return connection.isOpen() && connection.token() == before;
    }

    private void listenTo(int interest) {
        try {
            poller.change(listening, interest, listeningToken);
        } catch (LinuxException e) {
            LOG.error("the socket cannot be watched: {}", e.getMessage());
        }
    }

    private void readable(Connection connection) {
        try {
            SocketPort.Received received;
            for (int i = 0; i < TAKEN_AT_ONCE && connection.isOpen() && (received = os.sockets().receiveWithDescriptor(connection.socket, packet))
                    .bytes() != SocketPort.WOULD_BLOCK; i++) {
                if (received.bytes() == 0) {
                    close(connection);
                    return;
                }
                heard(connection, received);
            }
        } catch (MalformedMessageException e) {
            refuse(connection, e.code(), e.getMessage());
        } catch (LinuxException e) {
            close(connection);
        }
    }

    /** Handles a message. A descriptor that came with an image is kept, any other one is closed. */
    private void heard(Connection connection, SocketPort.Received received) throws LinuxException, MalformedMessageException {
        int descriptor = received.descriptor();
        try {
            RelayMessageAdapter.fromClient(packet, received.bytes(), connection);
            act(connection);
            long[] image = connection.takeImage();
            if (image != null) {
                long number = descriptor == SocketPort.NO_DESCRIPTOR ? 0
                        : connection.images().add(new ImageOffers.Offer(descriptor, image[0], image[1]));
                descriptor = number == 0 ? descriptor : SocketPort.NO_DESCRIPTOR;
                send(connection, RelayMessageEncoder.imageTaken(packet, number, number == 0 ? CudaResult.OUT_OF_MEMORY
                        : CudaResult.SUCCESS), SocketPort.NO_DESCRIPTOR);
            }
        } finally {
            if (descriptor != SocketPort.NO_DESCRIPTOR) {
                os.sockets().close(descriptor);
            }
        }
    }

    private void act(Connection connection) throws LinuxException, MalformedMessageException {
        connection.checkOrder();
        if (connection.session() == null && connection.announced() == null && connection.token() != null) {
            silent.leave(connection, connection.peer.uid());
            bound(unknown, connection, "more than " + MOST_UNKNOWN + " connections of this user wait for the manager's word");
        }
        admit(connection);
        pin(connection);
    }

    /** Makes pinned memory. A client may ask before its thread has a window for it; it is then answered when the window is there. */
    private void pin(Connection connection) {
        long[] asked = connection.session() == null ? null : connection.takePin();
        if (asked != null) {
            pinning.begin(connection, asked[0], asked[1]);
        }
    }

    private void offerPinned() {
        for (Pinning.Made made; (made = pinning.poll()) != null;) {
            Connection connection = made.connection();
            int descriptor = made.offer().descriptor();
            connection.pinned();
            try {
                if (connection.isOpen()) {
                    send(connection, RelayMessageEncoder.pinned(packet, made.offer().pinned()), descriptor);
                }
            } catch (LinuxException e) {
                close(connection);
            }
            try {
                if (descriptor >= 0) {
                    os.sockets().close(descriptor);
                }
            } catch (LinuxException e) {
                LOG.debug("while pinned memory was offered to {}: {}", connection, e.getMessage());
            }
        }
    }

    private void send(Connection connection, int bytes, int descriptor) throws LinuxException {
        int sent = descriptor < 0 ? os.sockets().send(connection.socket, packet, bytes)
                : os.sockets().sendWithDescriptor(connection.socket, packet, bytes, descriptor);
        if (sent == SocketPort.WOULD_BLOCK) {
            LOG.warn("{} does not read its answers: its connection is ended", connection);
            close(connection);
        }
    }

    private void admit(Connection connection) throws LinuxException {
        if (connection.session() != null || connection.token() == null || !connection.isOpen()) {
            return;
        }
        if (!isAmongUs(connection)) {
            return; // not yet; see doWork
        }
        Admission.Client client = connection.announced();
        SessionFactory.Made made;
        try {
            made = factory.make(client, connection.member(), reports);
        } catch (LinuxException e) {
            refuse(connection, RefusalCode.STORAGE, "no segment could be made: " + e.getMessage());
            return;
        }
        try {
            connection.serve(made);
            int bytes = RelayMessageEncoder.welcome(packet, client.clientId(), RelaySegment.BYTES);
            made.session().start();
            comings++;
            send(connection, bytes, made.descriptor());
        } finally {
            os.sockets().close(made.descriptor());
        }
        LOG.info("{} has come", made.session());
    }

    /** Returns whether an announced client may be served: the unfenced work of other tenants from when they were alone is done. */
    private boolean isAmongUs(Connection connection) {
        long nowNs = clock.nanoTime();
        if (connection.announced() == null) {
            Admission.Client client = admission.take(connection.token(), connection.peer, nowNs);
            if (client == null) {
                return false;
            }
            String full = room.refusal(connections.stream().filter(other -> other.session() != null).count());
            TenantPresence.Member member = full != null ? null : presence.enter(factory.name(client), client.uid(), reports::look);
            if (member == null) {
                refuse(connection, full == null ? RefusalCode.PEER : RefusalCode.FULL, full == null ? TenantPresence.REFUSAL : full);
                return false;
            }
            unknown.leave(connection, connection.peer.uid());
            connection.announced(client, member, nowNs + SETTLING_NS);
        }
        if (presence.isSettled(connection.member())) {
            return true;
        }
        if (nowNs - connection.settlesBeforeNs() > 0) {
            refuse(connection, RefusalCode.PEER,
                    "a kernel that another program launched unfenced, while it was alone, does not end; try again later. An administrator can end that program, "
                            + "or have the manager fence programs that are alone, too (--fence-alone yes)");
        }
        return false;
    }

    private void refuse(Connection connection, RefusalCode code, String reason) {
        try {
            if (lines.admits(connection.peer.uid())) {
                LOG.warn("{} is refused: {}", connection, reason);
            }
            os.sockets().send(connection.socket, packet, MessageEncoder.refused(packet, code, reason));
        } catch (LinuxException e) {
            LOG.debug("{} does not hear that it is refused: {}", connection, e.getMessage());
        }
        close(connection);
    }

    private void close(Connection connection) {
        if (!connection.closed()) {
            return;
        }
        connections.remove(connection);
        silent.leave(connection, connection.peer.uid());
        unknown.leave(connection, connection.peer.uid());
        try {
            poller.remove(connection.socket, connection.pollToken);
            os.sockets().closeAfterReading(connection.socket);
        } catch (LinuxException e) {
            LOG.debug("while {} was closed: {}", connection, e.getMessage());
        }
        if (connection.session() != null) {
            connection.session().end();
            leaving.add(connection);
        } else if (connection.member() != null) {
            presence.leave(connection.member());
        }
    }

    /** Does the work that is due, and writes the heartbeats. */
    public void doWork(long nowNs) {
        lines.sayLeftOut(nowNs, LOG::warn);
        if (acceptAgainNs <= nowNs) {
            acceptAgainNs = Long.MAX_VALUE;
            listenTo(PollPort.READABLE);
        }
        offerPinned();
        for (Connection connection : List.copyOf(connections)) {
            try {
                admit(connection);
                pin(connection);
            } catch (LinuxException e) {
                LOG.debug("{} is gone: {}", connection, e.getMessage());
                close(connection);
            }
            if (!connection.isOpen()) {
                continue;
            }
            if (connection.session() == null && connection.announced() == null
                    && nowNs - connection.sinceNs > (connection.token() == null ? SILENT_NS : ANNOUNCEMENT_NS)
                    && isStill(connection, connection.token())) {
                refuse(connection, RefusalCode.PEER, connection.token() == null ? "it has not said who it is"
                        : "the manager has not announced this process");
            } else if (connection.session() != null) {
                connection.session().segment().executorHeartbeatNs(nowNs);
                if (connection.session().isOver()) {
                    close(connection);
                }
            }
        }
        removeThoseWhoLeft();
    }

    private void removeThoseWhoLeft() {
        leaving.removeIf(connection -> {
            boolean over = connection.unmapIfOver();
            if (over) {
                comings++;
                presence.leave(connection.member());
            }
            return over;
        });
    }

    /** Returns how many times a client has come or gone so far. */
    public long comings() {
        return comings;
    }

    /** Returns whether no client is connected, and none is leaving. */
    public boolean isEmpty() {
        return connections.isEmpty() && leaving.isEmpty();
    }

    /** Calls the consumer for every session, including those that are leaving. */
    public void forEach(Consumer<ClientSession> each) {
        connections.stream().filter(connection -> connection.session() != null)
                .forEach(connection -> each.accept(connection.session()));
        leaving.forEach(connection -> each.accept(connection.session()));
    }

    /** Ends every connection; sessions end on their own threads. */
    @Override
    public void close() {
        try {
            poller.remove(listening, listeningToken);
            os.sockets().close(listening);
        } catch (LinuxException e) {
            LOG.debug("while the socket was closed: {}", e.getMessage());
        }
        List.copyOf(connections).forEach(this::close);
        pinning.close();
    }

    /** Returns whether sessions have not ended yet. */
    public boolean isLeaving() {
        removeThoseWhoLeft();
        return !leaving.isEmpty();
    }
}
