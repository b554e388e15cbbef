package io.tessera.manager.session;

import io.tessera.manager.os.LinuxException;
import io.tessera.manager.os.SocketPort;
import io.tessera.protocol.MessageEncoder;
import io.tessera.protocol.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What a client has yet to be told. Nothing here waits for the client: each kind of message about a slot is owed at most
 * once, a newer lease replaces an older one, and what does not fit into the socket is tried again in the next cycle.
 * A client whose socket is full has bells to read, so it loses nothing but time. One owner thread.
 */
final class Outbox {
    private final SocketPort sockets;
    private final int socket;
    private final MemorySegment packet;
    private final long[] leases = new long[SegmentLayout.MAX_DEVICES];
    private int owedBells;
    private int owedAnswers;
    private int owedTrims;

    Outbox(SocketPort sockets, int socket) {
        this.sockets = sockets;
        this.socket = socket;
        this.packet = Arena.ofAuto().allocate(64, 8);
    }

    void bell(int slot) {
        owedBells |= 1 << slot;
    }

    void answer(int slot, long grantedBytes) {
        owedAnswers |= 1 << slot;
        leases[slot] = grantedBytes;
    }

    void trim(int slot) {
        owedTrims |= 1 << slot;
    }

    void clear() {
        owedBells = 0;
        owedAnswers = 0;
        owedTrims = 0;
    }

    boolean isEmpty() {
        return (owedBells | owedAnswers | owedTrims) == 0;
    }

    /**
     * Sends what the socket takes.
     *
     * @return how many messages went out
     */
    int flush() throws LinuxException {
        int sent = 0;
        while (!isEmpty()) {
            if (!sendNext()) {
                break;
            }
            sent++;
        }
        return sent;
    }

    /** Bells first: a turn that begins late costs more than a lease that does. */
    private boolean sendNext() throws LinuxException {
        if (owedBells != 0) {
            int slot = Integer.numberOfTrailingZeros(owedBells);
            boolean taken = send(MessageEncoder.doorbell(packet, slot));
            owedBells &= taken ? ~(1 << slot) : -1;
            return taken;
        }
        if (owedAnswers != 0) {
            int slot = Integer.numberOfTrailingZeros(owedAnswers);
            boolean taken = send(MessageEncoder.quotaAnswer(packet, slot, leases[slot]));
            owedAnswers &= taken ? ~(1 << slot) : -1;
            return taken;
        }
        int slot = Integer.numberOfTrailingZeros(owedTrims);
        boolean taken = send(MessageEncoder.quotaTrim(packet, slot));
        owedTrims &= taken ? ~(1 << slot) : -1;
        return taken;
    }

    private boolean send(int bytes) throws LinuxException {
        return sockets.send(socket, packet, bytes) != SocketPort.WOULD_BLOCK;
    }
}
