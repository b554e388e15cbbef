package io.tessera.manager.session;

import io.tessera.clock.Clocks;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.SocketPort;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Answers HELLO: a segment and WELCOME, or the reason for a refusal (SPEC.md, section 2). One owner thread. */
final class Registration {
    private final LinuxPort os;
    private final Clocks clocks;
    private final SegmentStore store;
    private final long managerStartNs;
    private final MemorySegment packet = Arena.ofAuto().allocate(MessageLayout.MAX_BYTES, 8);

    Registration(LinuxPort os, Clocks clocks, SegmentStore store) {
        this.os = os;
        this.clocks = clocks;
        this.store = store;
        this.managerStartNs = clocks.realtime().nanoTime();
    }

    /** Reason why a client was not admitted. */
    record Refusal(RefusalCode code, String reason) {
    }

    /** Returns whether this manager serves the peer: root's serves all users, a user's serves that user and root. */
    boolean serves(int peerUid) {
        int own = os.processes().uid();
        return own == 0 || peerUid == own || peerUid == 0;
    }

    /**
     * Creates a segment, sends WELCOME with its descriptor, and marks the session as registered.
     *
     * @return null, or why the client is refused
     * @throws LinuxException if the connection broke; nothing is left behind
     */
    Refusal admit(Session session, Hello hello) throws LinuxException {
        if (!serves(session.peer().uid())) {
            return new Refusal(RefusalCode.PEER, "this manager belongs to user "
                    + Integer.toUnsignedString(os.processes().uid()) + " and does not serve user "
                    + Integer.toUnsignedString(session.peer().uid()));
        }
        SegmentStore.Created created;
        try {
            created = store.create(session.peer().uid());
        } catch (NoSpaceException e) {
            return new Refusal(RefusalCode.STORAGE, e.getMessage());
        } catch (LinuxException e) {
            return new Refusal(RefusalCode.STORAGE, "no segment could be made: " + e.getMessage());
        }
        boolean done = false;
        try {
            fill(created, session, hello);
            int bytes = MessageEncoder.welcome(packet, created.clientId(), SegmentLayout.SEGMENT_BYTES);
            int sent = os.sockets().sendWithDescriptor(session.socket, packet, bytes, created.segment().descriptor());
            if (sent == SocketPort.WOULD_BLOCK) {
                return new Refusal(RefusalCode.STORAGE, "no buffer for the answer to HELLO");
            }
            session.registered(created.clientId(), hello, created.segment());
            done = true;
            return null;
        } finally {
            if (!done) {
                created.segment().close();
            }
        }
    }

    private void fill(SegmentStore.Created created, Session session, Hello hello) {
        SegmentHeader header = new SegmentHeader(created.segment().memory());
        int pid = session.peer().pid();
        header.initialise(new SegmentHeader.Identity(created.clientId(), pid,
                pid > 0 ? os.processes().startTicks(pid) : 0, os.processes().pid(), managerStartNs, hello.plan(),
                hello.tenant(), hello.command()));
        header.managerHeartbeatNs(clocks.monotonic().nanoTime());
        header.publishVersion();
    }

    /** Sends REFUSED as far as the socket takes it. */
    void refuse(Session session, RefusalCode code, String reason) throws LinuxException {
        int bytes = MessageEncoder.refused(packet, code, reason);
        os.sockets().send(session.socket, packet, bytes);
    }
}
