package io.tessera.manager.session;

import io.tessera.manager.placement.PlacementChoice;
import io.tessera.os.Activity;
import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerCredentials;
import io.tessera.os.ProcessPort;
import io.tessera.protocol.message.ExchangeEnd;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.RelayAnswer;
import io.tessera.protocol.segment.SegmentHeader;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * One connection, from its accept until the process behind it is gone. Owned by {@link Sessions}; one owner thread.
 *
 * <p>Telling the client something never waits and never fails here: a broken connection is noted and ends the session
 * in the next cycle, so that a scheduler which gives orders is not called back in the middle of them.
 */
public final class Session {
    /** Where a session is in its life. */
    enum State {
        /** Connected; HELLO is awaited. */
        CONNECTED,
        /** Admitted, with a segment. */
        REGISTERED,
        /** The connection is over; the process may still have work in the driver. */
        ENDING,
        /** Over. */
        ENDED
    }

    final int socket;
    final int pidfd;
    final long connectedNs;
    long socketToken;
    long pidfdToken;
    State state = State.CONNECTED;
    /** When the present state is over at the latest; {@link Long#MAX_VALUE}: it is not bounded. */
    long deadlineNs;
    boolean processGone;
    /** When SIGTERM was not enough. */
    long killAtNs = Long.MAX_VALUE;
    /** Why the session must end, noted where it could not be ended. */
    String fault;
    /** Whether an access to memory faulted where this client's was to be touched, though its file is whole. */
    boolean suspected;
    Hello hello;
    private String sharing;
    private PlacementChoice placement;
    ClientSegment segment;

    private final PeerCredentials peer;
    private final ProcessPort processes;
    private final Outbox outbox;
    private long clientId;
    private SegmentHeader header;
    private boolean terminationAsked;

    Session(LinuxPort os, int socket, int pidfd, PeerCredentials peer, long connectedNs, long deadlineNs) {
        this.socket = socket;
        this.pidfd = pidfd;
        this.peer = peer;
        this.connectedNs = connectedNs;
        this.deadlineNs = deadlineNs;
        this.processes = os.processes();
        this.outbox = new Outbox(os.sockets(), socket);
    }

    void registered(long newClientId, Hello newHello, ClientSegment newSegment) {
        clientId = newClientId;
        hello = newHello;
        segment = newSegment;
        header = new SegmentHeader(newSegment.memory());
        state = State.REGISTERED;
        deadlineNs = Long.MAX_VALUE;
    }

    /** The manager's number for the client; 0 before it is registered. */
    public long clientId() {
        return clientId;
    }

    /** The peer that connected. */
    public PeerCredentials peer() {
        return peer;
    }

    /** The manager's reason for its way of sharing, as it was told when it asked; null: it did not ask. */
    void sharing(String reason) {
        sharing = reason;
    }

    /** Why it shares as it does; null: it did not leave that to the manager. */
    public String sharing() {
        return sharing;
    }

    /** The device that the manager chose for it before it started. */
    void placement(PlacementChoice choice) {
        placement = choice;
    }

    /** The device that the manager chose for it before it started; null: it did not leave that to the manager. */
    public PlacementChoice placement() {
        return placement;
    }

    /** What the client said of itself; only of a registered client. */
    public Hello hello() {
        return hello;
    }

    /** When it connected, CLOCK_MONOTONIC nanoseconds. */
    public long connectedNs() {
        return connectedNs;
    }

    /** First page of its segment; only of a registered client. */
    public SegmentHeader header() {
        return header;
    }

    /** Its segment; only of a registered client. */
    public MemorySegment memory() {
        return segment.memory();
    }

    /** Rings the client's bell for a slot. */
    public void ring(int slot) {
        outbox.bell(slot);
        flush();
    }

    /** Tells the client its new lease. */
    public void answerQuota(int slot, long grantedBytes) {
        outbox.answer(slot, grantedBytes);
        flush();
    }

    /** Asks the client to give back what it does not use. */
    public void trimQuota(int slot) {
        outbox.trim(slot);
        flush();
    }

    /** Tells the client which executors serve it. */
    public void answerRelay(List<RelayAnswer> answers) {
        answers.forEach(outbox::relay);
        flush();
    }

    /**
     * Gives the client an end of a device's queue of handed memory.
     *
     * @param descriptor stays the caller's
     * @return whether it went out; false: its socket is full, or broken, which its session notices
     */
    public boolean giveEnd(int slot, ExchangeEnd end, int descriptor) {
        try {
            return state == State.REGISTERED && outbox.sendNow(slot, end, descriptor);
        } catch (LinuxException e) {
            return false;
        }
    }

    /** Asks for the process to be ended; {@link Sessions#doWork} does it. */
    public void terminate() {
        terminationAsked = true;
    }

    boolean takeTermination() {
        boolean asked = terminationAsked;
        terminationAsked = false;
        return asked;
    }

    /** Whether a signal has stopped its process. */
    public boolean isStopped() {
        Activity activity = processes.activity(peer.pid());
        return activity != null && activity.stopped();
    }

    /** Ends the connection in the next cycle, for a reason that the log and the client get. */
    public void fault(String reason) {
        if (fault == null) {
            fault = reason;
        }
    }

    /** Whether it is to end: its memory is not touched any more, since every touch may fault. */
    public boolean isFaulty() {
        return fault != null;
    }

    /**
     * A touch of its segment faulted. Ends the connection if the file was cut short; else the fault may be of a touch of
     * another client's before, which the compiler let through late.
     *
     * @throws InternalError the same, for the caller that looks at all segments ({@link Sessions#checkSegments})
     */
    public void faulted(InternalError late) {
        if (!isCut()) {
            suspected = true;
            throw late;
        }
        fault("its segment file was cut short (" + late.getMessage() + ")");
    }

    /** Tells the client that this manager gives it no more orders: it waits for none, as it would for one that was killed. */
    void giveUp() {
        if (isFaulty()) {
            return;
        }
        try {
            header.managerHeartbeatNs(0);
        } catch (InternalError e) {
            suspected = true; // its file was cut short: nobody reads it either
        }
    }

    boolean isCut() {
        try {
            return !segment.isWhole();
        } catch (LinuxException e) {
            return true;
        }
    }

    /** Sends what is owed. Returns how many messages went out. */
    int flush() {
        if (state != State.REGISTERED || outbox.isEmpty()) {
            return 0;
        }
        try {
            int sent = outbox.flush();
            if (outbox.isOverfull()) {
                fault("it asks for memory and does not read the answers");
            }
            return sent;
        } catch (LinuxException e) {
            if (e.errno() == Errno.EPIPE || e.errno() == Errno.ECONNRESET) {
                outbox.clear(); // the peer is gone; the end of the connection is on its way to us
            } else {
                fault("its connection broke: " + e.getMessage());
            }
            return 0;
        }
    }

    /** The client in a log line. */
    @Override
    public String toString() {
        return clientId == 0 ? "a peer (pid " + peer.pid() + ", user " + Integer.toUnsignedString(peer.uid()) + ")"
                : "client " + clientId + " (pid " + peer.pid() + ", tenant \"" + hello.tenant() + "\", "
                        + hello.command() + ")";
    }
}
