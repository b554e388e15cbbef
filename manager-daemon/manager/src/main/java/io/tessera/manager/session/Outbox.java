package io.tessera.manager.session;

import io.tessera.os.LinuxException;
import io.tessera.os.SocketPort;
import io.tessera.protocol.message.ExchangeEnd;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RelayAnswer;
import io.tessera.protocol.message.RelayMessageEncoder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Messages that are to be sent to a client. No call waits for the client: what does not fit into its socket is tried again in the next cycle. A
 * doorbell is owed at most once for a slot, because the words say what is new. A client whose socket is full has doorbells to read, so it loses
 * nothing but time. Messages about leases keep their number and order, on which the ledger depends. One owner thread.
 */
final class Outbox {
    /**
     * Maximum number of lease messages that wait. Each answers one question, so a client with more has asked and not read. A client that waits for
     * each answer has far fewer open.
     */
    static final int MOST_LEASE_MESSAGES = 1024;

    private final SocketPort sockets;
    private final int socket;
    private final MemorySegment packet;
    private final ArrayDeque<LeaseMessage> leaseMessages = new ArrayDeque<>();
    private final ArrayDeque<RelayAnswer> relayAnswers = new ArrayDeque<>();
    /** Why the client is short of memory, by slot: the last sentence for each. */
    private final SortedMap<Integer, String> shortages = new TreeMap<>();
    private int owedBells;

    private record LeaseMessage(int slot, boolean trim, long grantedBytes) {
    }

    Outbox(SocketPort sockets, int socket) {
        this.sockets = sockets;
        this.socket = socket;
        this.packet = Arena.ofAuto().allocate(MessageLayout.MAX_BYTES, 8);
    }

    void bell(int slot) {
        owedBells |= 1 << slot;
    }

    void answer(int slot, long grantedBytes) {
        leaseMessages.add(new LeaseMessage(slot, false, grantedBytes));
    }

    void trim(int slot) {
        leaseMessages.add(new LeaseMessage(slot, true, 0));
    }

    void shortage(int slot, String reason) {
        shortages.put(slot, reason);
    }

    void relay(RelayAnswer answer) {
        relayAnswers.add(answer);
    }

    /** Sends an end of a queue at once and before all other messages, or returns false. */
    boolean sendNow(int slot, ExchangeEnd end, int descriptor) throws LinuxException {
        return sockets.sendWithDescriptor(socket, packet, MessageEncoder.exchange(packet, slot, end), descriptor) != SocketPort.WOULD_BLOCK;
    }

    void clear() {
        owedBells = 0;
        shortages.clear();
        relayAnswers.clear();
        leaseMessages.clear();
    }

    boolean isEmpty() {
        return owedBells == 0 && shortages.isEmpty() && leaseMessages.isEmpty() && relayAnswers.isEmpty();
    }

    boolean isOverfull() {
        return leaseMessages.size() + relayAnswers.size() > MOST_LEASE_MESSAGES;
    }

    /**
     * Sends what the socket takes.
     *
     * @return the number of messages sent
     */
    int flush() throws LinuxException {
        int sent = 0;
        while (!isEmpty() && sendNext()) {
            sent++;
        }
        return sent;
    }

    /** Sends the next message, doorbells first: a turn that begins late costs more than a late lease. */
    private boolean sendNext() throws LinuxException {
        if (owedBells != 0) {
            int slot = Integer.numberOfTrailingZeros(owedBells);
            if (!send(MessageEncoder.doorbell(packet, slot))) {
                return false;
            }
            owedBells &= ~(1 << slot);
            return true;
        }
        if (!shortages.isEmpty()) {
            int slot = shortages.firstKey();
            if (!send(MessageEncoder.shortage(packet, slot, shortages.get(slot)))) {
                return false;
            }
            shortages.remove(slot);
            return true;
        }
        if (!relayAnswers.isEmpty()) {
            if (!send(RelayMessageEncoder.answer(packet, relayAnswers.peek()))) {
                return false;
            }
            relayAnswers.remove();
            return true;
        }
        LeaseMessage next = leaseMessages.peek();
        int bytes = next.trim ? MessageEncoder.quotaTrim(packet, next.slot)
                : MessageEncoder.quotaAnswer(packet, next.slot, next.grantedBytes);
        if (!send(bytes)) {
            return false;
        }
        leaseMessages.remove();
        return true;
    }

    private boolean send(int bytes) throws LinuxException {
        return sockets.send(socket, packet, bytes) != SocketPort.WOULD_BLOCK;
    }
}
