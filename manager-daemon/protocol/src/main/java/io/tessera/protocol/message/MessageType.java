package io.tessera.protocol.message;

import java.lang.foreign.StructLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Messages on the registration socket and on an executor's socket ({@code TESSERA_MSG_*}). Numbers are never reused; those
 * from 16 on belong to the relay (RELAY.md).
 */
public enum MessageType {
    /** Client: its identity and its requests. */
    HELLO(1, MessageLayout.HELLO),
    /** Manager: number and size of the segment, with its descriptor. */
    WELCOME(2, MessageLayout.WELCOME),
    /** Manager: reason of a refusal; the connection ends. */
    REFUSED(3, MessageLayout.REFUSED),
    /** Client: it has a context on the device of a slot. */
    DEVICE(4, MessageLayout.DEVICE_MESSAGE),
    /** Both: words of the device changed. */
    DOORBELL(5, MessageLayout.DOORBELL),
    /** Client: bytes needed beyond its lease. */
    QUOTA_ASK(6, MessageLayout.QUOTA),
    /** Manager: the new lease. */
    QUOTA_ANSWER(7, MessageLayout.QUOTA),
    /** Manager: give back what you do not use. */
    QUOTA_TRIM(8, MessageLayout.QUOTA),
    /** Client: the lowered lease. */
    QUOTA_RETURN(9, MessageLayout.QUOTA),
    /** Manager: an end of the queue in which clients hand each other a device's memory, with its descriptor. */
    EXCHANGE(10, MessageLayout.EXCHANGE),
    /** Client, instead of HELLO: the question which way of sharing to take. */
    SHARING_ASK(11, MessageLayout.SHARING_ASK),
    /** Manager: the way of sharing and its reason; the connection ends. */
    SHARING(12, MessageLayout.SHARING),
    /** Manager: why the client's calls are out of memory. */
    SHORTAGE(13, MessageLayout.SHORTAGE),
    /** Client to manager: which executors serve it, and how its kernels are to be fenced. */
    RELAY_ASK(16, RelayMessageLayout.ASK),
    /** Manager to client: one of these executors. */
    RELAY_ANSWER(17, RelayMessageLayout.ANSWER),
    /** Client to executor: its identity. */
    RELAY_HELLO(18, RelayMessageLayout.HELLO),
    /** Executor to client: the relay segment, with its descriptor. */
    RELAY_WELCOME(19, RelayMessageLayout.WELCOME),
    /** Client to executor: memory that both map. */
    PIN(20, RelayMessageLayout.PIN),
    /** Executor to client: that memory, with its descriptor. */
    PINNED(21, RelayMessageLayout.PINNED),
    /** Client to executor: a module image in a file, with the file's descriptor. */
    IMAGE(22, RelayMessageLayout.IMAGE),
    /** Executor to client: the number by which a call names that image. */
    IMAGE_TAKEN(23, RelayMessageLayout.IMAGE_TAKEN);

    private static final Map<Integer, MessageType> BY_CODE = Arrays.stream(values())
            .collect(Collectors.toUnmodifiableMap(MessageType::code, Function.identity()));

    private final int code;
    private final StructLayout layout;
    private final int bytes;

    MessageType(int code, StructLayout layout) {
        this.code = code;
        this.layout = layout;
        this.bytes = Math.toIntExact(layout.byteSize());
    }

    /** Returns the number on the wire. */
    public int code() {
        return code;
    }

    /** Returns whether it belongs to the relay. */
    public boolean isRelay() {
        return code >= RELAY_ASK.code;
    }

    /** Returns its fields; the first of them is the header. */
    StructLayout layout() {
        return layout;
    }

    /** Returns the length of the whole message in bytes; every type has one length. */
    public int bytes() {
        return bytes;
    }

    /** Returns the type with a number; absent if no type has it. */
    public static Optional<MessageType> ofCode(int code) {
        return Optional.ofNullable(BY_CODE.get(code));
    }
}
