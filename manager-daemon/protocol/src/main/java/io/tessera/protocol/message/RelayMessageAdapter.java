package io.tessera.protocol.message;

import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Decodes the relay's messages. A packet is checked whole before it is passed on. Stateless and thread-safe; the packet must not change meanwhile and
 * is at least {@link MessageLayout#MAX_BYTES} long and 8-byte aligned.
 */
public final class RelayMessageAdapter {
    private static final long FENCE = offset(RelayMessageLayout.ASK, "fence");
    private static final long UNFENCED = offset(RelayMessageLayout.ASK, "unfenced");
    private static final long FENCE_ALONE = offset(RelayMessageLayout.ASK, "fence_alone");
    private static final long KERNEL_TIMEOUT_S = offset(RelayMessageLayout.ASK, "kernel_timeout_s");
    private static final long COUNT = offset(RelayMessageLayout.ANSWER, "count");
    private static final long SOFTWARE = offset(RelayMessageLayout.ANSWER, "software");
    private static final long UUID = offset(RelayMessageLayout.ANSWER, "uuid");
    private static final long TOKEN = offset(RelayMessageLayout.ANSWER, "token");
    private static final long SOCKET = offset(RelayMessageLayout.ANSWER, "socket");
    private static final long REASON = offset(RelayMessageLayout.ANSWER, "reason");
    private static final long HELLO_TOKEN = offset(RelayMessageLayout.HELLO, "token");
    private static final long CLIENT_ID = offset(RelayMessageLayout.WELCOME, "client_id");
    private static final long SEGMENT_BYTES = offset(RelayMessageLayout.WELCOME, "segment_bytes");
    private static final long PIN_BYTES = offset(RelayMessageLayout.PIN, "bytes");
    private static final long NOT_BELOW = offset(RelayMessageLayout.PIN, "not_below");
    private static final long ID = offset(RelayMessageLayout.PINNED, "id");
    private static final long ADDRESS = offset(RelayMessageLayout.PINNED, "address");
    private static final long BYTES = offset(RelayMessageLayout.PINNED, "bytes");
    private static final long RESULT = offset(RelayMessageLayout.PINNED, "result");
    private static final long IMAGE_OFFSET = offset(RelayMessageLayout.IMAGE, "offset");
    private static final long IMAGE_BYTES = offset(RelayMessageLayout.IMAGE, "bytes");
    private static final long NUMBER = offset(RelayMessageLayout.IMAGE_TAKEN, "number");
    private static final long TAKEN_RESULT = offset(RelayMessageLayout.IMAGE_TAKEN, "result");

    private RelayMessageAdapter() {
    }

    /** An executor's message on its socket. */
    public sealed interface FromExecutor {
    }

    /**
     * Admission of the client, with the descriptor of the segment in the packet.
     *
     * @param clientId     number of the client with the executor, the same as with the manager
     * @param segmentBytes size of the segment
     */
    public record Welcome(long clientId, long segmentBytes) implements FromExecutor {
    }

    /**
     * Refusal of the client.
     *
     * @param code   code, see {@link RefusalCode}
     * @param reason sentence for people
     */
    public record Refused(int code, String reason) implements FromExecutor {
    }

    /**
     * An answer to PIN.
     *
     * @param pinned the memory
     */
    public record Pinned(RelayPinned pinned) implements FromExecutor {
    }

    /**
     * An answer to IMAGE.
     *
     * @param number number by which a call names the image
     * @param result CUresult; not 0: there is no number
     */
    public record ImageTaken(long number, int result) implements FromExecutor {
    }

    /**
     * Decodes a client's message to an executor, and calls the listener's method for it.
     *
     * @throws MalformedMessageException if it is not a message of a client; the listener was not called
     */
    public static void fromClient(MemorySegment packet, int length, RelayMessageListener listener)
            throws MalformedMessageException {
        MessageType type = MessageHeader.check(packet, length);
        switch (type) {
            case RELAY_HELLO -> listener.onHello(RelayToken.read(packet, HELLO_TOKEN));
            case PIN -> listener.onPin(packet.get(WireTypes.U64, PIN_BYTES), packet.get(WireTypes.U64, NOT_BELOW));
            case IMAGE -> listener.onImage(packet.get(WireTypes.U64, IMAGE_OFFSET),
                    packet.get(WireTypes.U64, IMAGE_BYTES));
            default -> throw MessageHeader.malformed(type + " is no message to an executor");
        }
    }

    /**
     * Decodes an executor's message to a client.
     *
     * @throws MalformedMessageException if it is not a message of an executor
     */
    public static FromExecutor fromExecutor(MemorySegment packet, int length) throws MalformedMessageException {
        MessageType type = MessageHeader.check(packet, length);
        return switch (type) {
            case RELAY_WELCOME -> new Welcome(packet.get(WireTypes.U64, CLIENT_ID),
                    packet.get(WireTypes.U64, SEGMENT_BYTES));
            case REFUSED -> new Refused(packet.get(WireTypes.U32, offset(MessageLayout.REFUSED, "code")),
                    WireTypes.getText(packet, offset(MessageLayout.REFUSED, "reason"), MessageLayout.REASON_BYTES));
            case PINNED -> new Pinned(new RelayPinned(packet.get(WireTypes.U64, ID),
                    packet.get(WireTypes.U64, ADDRESS), packet.get(WireTypes.U64, BYTES),
                    packet.get(WireTypes.U32, RESULT)));
            case IMAGE_TAKEN -> new ImageTaken(packet.get(WireTypes.U64, NUMBER), packet.get(WireTypes.U32, TAKEN_RESULT));
            default -> throw MessageHeader.malformed(type + " is no message of an executor");
        };
    }

    /** Decodes a RELAY_ASK whose header was checked. */
    static FenceWish ask(MemorySegment packet) throws MalformedMessageException {
        int fence = packet.get(WireTypes.U32, FENCE);
        int unfenced = packet.get(WireTypes.U32, UNFENCED);
        int timeoutS = packet.get(WireTypes.U32, KERNEL_TIMEOUT_S);
        Optional<FenceChoice> choice = FenceChoice.ofCode(fence);
        Optional<UnfencedPolicy> policy = UnfencedPolicy.ofCode(unfenced);
        if (fence != 0 && choice.isEmpty() || unfenced != 0 && policy.isEmpty() || timeoutS < 0
                || timeoutS > FenceWish.LONGEST_TIMEOUT_S) {
            throw MessageHeader.malformed("fence " + fence + ", unfenced " + unfenced + ", timeout " + timeoutS);
        }
        return new FenceWish(choice, policy, packet.get(WireTypes.U32, FENCE_ALONE) != 0, timeoutS);
    }

    /** Decodes a RELAY_ANSWER whose header was checked. */
    static RelayAnswer answer(MemorySegment packet) throws MalformedMessageException {
        return new RelayAnswer(MessageHeader.slot(packet, MessageType.RELAY_ANSWER),
                packet.get(WireTypes.U32, COUNT), packet.get(WireTypes.U32, SOFTWARE) != 0,
                DeviceUuid.read(packet, UUID), RelayToken.read(packet, TOKEN),
                WireTypes.getText(packet, SOCKET, RelayMessageLayout.SOCKET_BYTES),
                WireTypes.getText(packet, REASON, RelayMessageLayout.REASON_BYTES));
    }
}
