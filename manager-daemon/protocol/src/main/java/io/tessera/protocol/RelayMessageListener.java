package io.tessera.protocol;

/** What a client says on an executor's socket, after {@link RelayMessageAdapter} checked it. */
public interface RelayMessageListener {
    /** The client shows its token. */
    void onHello(RelayToken token);

    /** It asks for memory that both map: bytes and lowest address, both unsigned. */
    void onPin(long bytes, long notBelow);
}
