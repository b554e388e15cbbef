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
 * One connection, from its accept until its process is gone. Owned by {@link Sessions}; one owner thread.
 *
 * <p>Sending to the client never waits and never fails here. A broken connection is noted and ends the session in the next cycle, so that a scheduler
 * is not called back while it gives orders.
 */
public final class Session {
    /** State of a session. */
    enum State {
        /** Connected; waits for HELLO. */
        CONNECTED,
        /** Admitted, with a segment. */
        REGISTERED,
        /** The connection is over; the process may still have work in the driver. */
        ENDING,
        /** Ended. */
        ENDED
    }

    final int socket;
    final int pidfd;
    final long connectedNs;
    long socketToken;
    long pidfdToken;
    State state = State.CONNECTED;
    /** Latest end of the present state; {@link Long#MAX_VALUE}: without a bound. */
    long deadlineNs;
    boolean processGone;
    /** Time at which SIGKILL follows, if SIGTERM was not enough. */
    long killAtNs = Long.MAX_VALUE;
    /** Why the session must end, recorded where it could not be ended. */
    String fault;
    /** Whether a memory access faulted when this client's memory was to be accessed, although its file is whole. */
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

    /** Returns the manager's number for the client; 0 before it is registered. */
    public long clientId() {
        return clientId;
    }

    /** Returns the peer that connected. */
    public PeerCredentials peer() {
        return peer;
    }

    /** Sets the manager's reason for the client's way of sharing, as given in the answer to its question; null: it did not ask. */
    void sharing(String reason) {
        sharing = reason;
    }

    /** Returns why it shares as it does; null if it did not leave the choice to the manager. */
    public String sharing() {
        return sharing;
    }

    /** Sets the device that the manager chose for the program before it started. */
    void placement(PlacementChoice choice) {
        placement = choice;
    }

    /** Returns the device that the manager chose for the program before it started; null if it did not leave the choice to the manager. */
    public PlacementChoice placement() {
        return placement;
    }

    /** Returns what the client said about itself; only for a registered client. */
    public Hello hello() {
        return hello;
    }

    /** Returns when it connected, CLOCK_MONOTONIC nanoseconds. */
    public long connectedNs() {
        return connectedNs;
    }

    /** Returns the first page of its segment; only for a registered client. */
    public SegmentHeader header() {
        return header;
    }

    /** Returns its segment; only for a registered client. */
    public MemorySegment memory() {
        return segment.memory();
    }

    /** Rings the client's doorbell for a slot. */
    public void ring(int slot) {
        outbox.bell(slot);
        flush();
    }

    /** Sends the client its new lease. */
    public void answerQuota(int slot, long grantedBytes) {
        outbox.answer(slot, grantedBytes);
        flush();
    }

    /** Asks the client to give back what it does not use. */
    public void trimQuota(int slot) {
        outbox.trim(slot);
        flush();
    }

    /** Tells the client why it is short of memory, for its user. */
    public void tellShortage(int slot, String reason) {
        outbox.shortage(slot, reason);
        flush();
    }

    /** Sends the client the executors that serve it. */
    public void answerRelay(List<RelayAnswer> answers) {
        answers.forEach(outbox::relay);
        flush();
    }

    /**
     * Gives the client an end of a device's queue of handed memory.
     *
     * @param descriptor the end; the caller keeps ownership
     * @return whether it was sent; false: the socket is full, or broken, which the session notices by itself
     */
    public boolean giveEnd(int slot, ExchangeEnd end, int descriptor) {
        try {
            return state == State.REGISTERED && outbox.sendNow(slot, end, descriptor);
        } catch (LinuxException e) {
            return false;
        }
    }

    /** Requests the end of the process; {@link Sessions#doWork} carries it out. */
    public void terminate() {
        terminationAsked = true;
    }

    boolean takeTermination() {
        boolean asked = terminationAsked;
        terminationAsked = false;
        return asked;
    }

    /** Returns whether a signal has stopped its process. */
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

    /** Returns whether it is to end. Its memory is then no longer accessed, since every access may fault. */
    public boolean isFaulty() {
        return fault != null;
    }

    /**
     * Handles a fault in an access to its segment. Ends the connection if the file was truncated. Otherwise the fault may come from an earlier access
     * to another client's segment, which compiled code reported late.
     *
     * @throws InternalError the same error, for the caller that checks all segments ({@link Sessions#checkSegments})
     */
    public void faulted(InternalError late) {
        if (!isCut()) {
            suspected = true;
            throw late;
        }
        fault("its segment file was cut short (" + late.getMessage() + ")");
    }

    /** Tells the client that this manager gives it no more orders: the client waits for none, as it would after a manager was killed. */
    void giveUp() {
        if (isFaulty()) {
            return;
        }
        try {
            header.managerHeartbeatNs(0);
        } catch (InternalError e) {
            suspected = true; // its file was truncated: the client cannot read it either
        }
    }

    boolean isCut() {
        try {
            return !segment.isWhole();
        } catch (LinuxException e) {
            return true;
        }
    }

    /** Sends what is owed. Returns the number of messages sent. */
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
                outbox.clear(); // the peer is gone; the event for the end of the connection follows
            } else {
                fault("its connection broke: " + e.getMessage());
            }
            return 0;
        }
    }

    /** Returns the client for a log line. */
    @Override
    public String toString() {
        return clientId == 0 ? "a peer (pid " + peer.pid() + ", user " + Integer.toUnsignedString(peer.uid()) + ")"
                : "client " + clientId + " (pid " + peer.pid() + ", tenant \"" + hello.tenant() + "\", "
                        + hello.command() + ")";
    }
}
