package io.tessera.protocol.message;

/** What a client says, after {@link ClientMessageAdapter} checked it. Slots are valid device slots. */
public interface ClientMessageListener {
    /** The client introduces itself. */
    void onHello(Hello hello);

    /** It has a context on a device. */
    void onDevice(DeviceAnnouncement device);

    /** Words of a device changed. */
    void onDoorbell(int slot);

    /** It needs bytes beyond its lease; unsigned. */
    void onQuotaAsk(int slot, long bytes);

    /** It lowered its lease to this; unsigned. */
    void onQuotaReturn(int slot, long grantedBytes);

    /** It asks which way of sharing it is to take, instead of introducing itself. */
    void onSharingAsk(String tenant);

    /** It asks which executors serve it, and how its kernels are to be fenced. */
    void onRelayAsk(FenceWish wish);
}
