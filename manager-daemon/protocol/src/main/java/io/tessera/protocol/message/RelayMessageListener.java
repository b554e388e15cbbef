package io.tessera.protocol.message;

/** Receives a client's messages on an executor's socket after {@link RelayMessageAdapter} checked them. */
public interface RelayMessageListener {
    /** The client shows its token. */
    void onHello(RelayToken token);

    /** The client asks for memory that both map: bytes and lowest address, both unsigned. */
    void onPin(long bytes, long notBelow);

    /** The client offers a module image in the file whose descriptor is in the packet: offset and bytes, both unsigned. */
    void onImage(long offset, long bytes);
}
