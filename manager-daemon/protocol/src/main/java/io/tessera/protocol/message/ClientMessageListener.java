package io.tessera.protocol.message;

/** Receives a client's messages after {@link ClientMessageAdapter} checked them. Slots are valid device slots. */
public interface ClientMessageListener {
    /** The client introduces itself. */
    void onHello(Hello hello);

    /** The client has a context on a device. */
    void onDevice(DeviceAnnouncement device);

    /** Words of a device changed. */
    void onDoorbell(int slot);

    /** The client needs bytes beyond its lease (unsigned). */
    void onQuotaAsk(int slot, long bytes);

    /** The client lowered its lease to a value (unsigned). */
    void onQuotaReturn(int slot, long grantedBytes);

    /** The client asks which way of sharing to take, instead of introducing itself. */
    void onSharingAsk(String tenant);

    /** The client asks which executors serve it, and how its kernels are to be fenced. */
    void onRelayAsk(FenceWish wish);
}
