package io.tessera.protocol.message;

/** Receives the manager's messages after {@link ManagerMessageAdapter} checked them. Slots are valid device slots. */
public interface ManagerMessageListener {
    /** The client is admitted; the packet carries the segment's descriptor. */
    void onWelcome(long clientId, long segmentBytes);

    /** The client is not admitted; the connection ends. The code is one of {@link RefusalCode#code} or a newer one. */
    void onRefused(int code, String reason);

    /** Words of a device changed. */
    void onDoorbell(int slot);

    /** The client's new lease (unsigned). */
    void onQuotaAnswer(int slot, long grantedBytes);

    /** The client shall give back what it does not use. */
    void onQuotaTrim(int slot);

    /** An end of a device's queue of handed memory; the packet carries its descriptor. */
    void onExchange(int slot, ExchangeEnd end);

    /** The way of sharing that the client is to take; the connection ends. */
    void onSharing(SharingAnswer answer);

    /** The client's calls on a device are out of memory, and why. */
    void onShortage(int slot, String reason);

    /** One of the executors that serve the client, or the statement that there is none. */
    void onRelayAnswer(RelayAnswer answer);
}
