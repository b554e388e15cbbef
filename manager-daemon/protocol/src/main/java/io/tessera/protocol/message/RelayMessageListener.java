package io.tessera.protocol.message;

/** What a client says on an executor's socket, after {@link RelayMessageAdapter} checked it. */
public interface RelayMessageListener {
    /** The client shows its token. */
    void onHello(RelayToken token);

    /** It asks for memory that both map: bytes and lowest address, both unsigned. */
    void onPin(long bytes, long notBelow);

    /** It has a module image in the file whose descriptor the packet carries: offset and bytes, both unsigned. */
    void onImage(long offset, long bytes);
}
